import { query } from './query.js';

/** Settings that change how values are written, what a statement means, or what a commit guarantees. */
const ODD_SETTINGS = {
  array_nulls: 'off',
  bytea_output: 'escape',
  DateStyle: 'German',
  default_transaction_deferrable: 'on',
  default_transaction_isolation: 'serializable',
  exit_on_error: 'on',
  extra_float_digits: '-15',
  gin_fuzzy_search_limit: '1',
  IntervalStyle: 'sql_standard',
  lock_timeout: '1',
  standard_conforming_strings: 'off',
  synchronous_commit: 'off',
  TimeZone: 'Asia/Kolkata',
  transform_null_equals: 'on',
  xmlbinary: 'hex',
};

/** Sets the settings for new sessions of the database. Has no timeouts that would stop a session of the spec itself. */
export async function setOddSettings(url: string): Promise<void> {
  const values = Object.entries(ODD_SETTINGS).map(([name, value]) => `('${name}', '${value}')`);
  await query(
    url,
    `DO $$
     DECLARE odd record;
     BEGIN
       FOR odd IN VALUES ${values.join(', ')} LOOP
         EXECUTE format('ALTER DATABASE %I SET %s = %L', current_database(), odd.column1, odd.column2);
       END LOOP;
     END $$`,
  );
}
