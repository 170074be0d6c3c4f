/** The rule in error messages, after the name of the field. */
export const UTC_TIME_RULE =
  'must be an RFC 3339 time of the years 0001 to 9999, in UTC or with an offset, exact to the millisecond, such as 2026-05-17T09:30:00.000Z';

/** RFC 3339, section 5.6. Further digits of a second must be zeros. A Date has neither leap seconds nor 24:00. */
const RFC_3339 = /^(\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3])(?::[0-5]\d){2})(?:\.(\d{1,3})0*)?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;
const MS_PER_MINUTE = 60_000;

/** Returns whether the value is a Date that JSON, RFC 3339 and PostgreSQL represent in the same way. */
export function isUtcTime(value: unknown): value is Date {
  if (!(value instanceof Date)) return false;
  const year = value.getUTCFullYear();
  return year >= 1 && year <= 9999;
}

/** Parses an RFC 3339 time. Returns undefined for a text that is not one, or that a Date of the years 1 to 9999 cannot represent exactly. */
export function parseUtcTime(text: string): Date | undefined {
  const [, local, milliseconds = '', sign, hours, minutes] = RFC_3339.exec(text) ?? [];
  if (local === undefined) return undefined;
  const atOffset = new Date(`${local}.${milliseconds.padEnd(3, '0')}Z`);
  // `new Date` accepts 30 February, as 2 March.
  if (Number.isNaN(atOffset.getTime()) || !atOffset.toISOString().startsWith(local.toUpperCase())) return undefined;
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * MS_PER_MINUTE;
  const time = new Date(atOffset.getTime() - (sign === '-' ? -offset : offset));
  return isUtcTime(time) ? time : undefined;
}
