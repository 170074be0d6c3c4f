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

/** Replaces parsers of `pg`: a number would round a bigint, and null would be the value of a time that cannot be read. */
const PARSERS = new Map<number, Parse>([
  [types.builtins.INT8, BigInt],
  [types.builtins.TIMESTAMPTZ, parseTime],
]);

export const exactTypes: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && PARSERS.get(oid)) || (types.getTypeParser(oid, format) as Parse)) as CustomTypesConfig['getTypeParser'],
};
