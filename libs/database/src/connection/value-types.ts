import { type CustomTypesConfig, types } from 'pg';

type Parse = (text: string) => unknown;

/** ISO 8601 and PostgreSQL's DateStyle ISO, of years from 1 on. */
const TIME = /^(\d{4,6})(-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?)(?:Z|([+-]\d\d)(?::?(\d\d))?)$/;

/** Returns a Date. For a time that RFC 3339 cannot represent, such as `infinity`, its JSON is the text of PostgreSQL, as in lists. */
export function parseTime(text: string): Date {
  const [, year = '', day = '', time = '', hours = '+00', minutes = '00'] = TIME.exec(text) ?? [];
  const date = new Date(`${year.length > 4 ? `+${year.padStart(6, '0')}` : year}${day}T${time}${hours}:${minutes}`);
  return year.length === 4 ? date : Object.assign(date, { toJSON: () => text });
}

/** Returns an invalid Date where `pg` returns null or an infinite number. */
const orInvalid =
  (parse: Parse): Parse =>
  (text) => {
    const parsed = parse(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : new Date(NaN);
  };

/** Applies the parser to the elements of an array, which may be nested. */
const arrayOf = (parse: Parse): Parse => {
  const parseElements = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(parseElements) : typeof value === 'string' ? parse(value) : value;
  return (text) => parseElements(parseTexts(text));
};

const TEXT_ARRAY: number = 1009;
const parseTexts = types.getTypeParser(TEXT_ARRAY, 'text') as Parse;
const { DATE, INT8, TIMESTAMP, TIMESTAMPTZ } = types.builtins;
const parseDate = orInvalid(types.getTypeParser(DATE, 'text') as Parse);
const parseTimestamp = orInvalid(types.getTypeParser(TIMESTAMP, 'text') as Parse);

/** By the object identifier of the type. */
const PARSERS = new Map<number, Parse>([
  // A JavaScript number would round it.
  [INT8, BigInt],
  [DATE, parseDate],
  [TIMESTAMP, parseTimestamp],
  [TIMESTAMPTZ, parseTime],
  [1182, arrayOf(parseDate)],
  [1115, arrayOf(parseTimestamp)],
  [1185, arrayOf(parseTime)],
]);

/** The parsers of `pg`, except those that round a value, or turn one into null. */
export const exactTypes: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && PARSERS.get(oid)) || (types.getTypeParser(oid, format) as Parse)) as CustomTypesConfig['getTypeParser'],
};
