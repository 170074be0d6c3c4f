import { expect, it } from '@jest/globals';
import { grantStatements } from './grants.js';

const persistence = [
  { schema: 'shop', entities: [], migrations: [] },
  {
    schema: 'Access "2"',
    entities: [],
    migrations: [],
    privileges: { service: ['SELECT ON access.keys', 'UPDATE (used_at) ON access.keys'], keys: ['INSERT ON access.keys'] },
  },
];

it('a role of the service has the privileges of all contexts and no others', () => {
  expect(grantStatements(persistence, 'service', 'st"ore')).toEqual([
    'BEGIN',
    "SET LOCAL search_path = ''",
    `SET LOCAL animal_store.role = 'st"ore'`,
    expect.stringMatching(/^DO /),
    'REVOKE ALL ON public.schema_migrations FROM "st""ore"',
    'GRANT USAGE ON SCHEMA public TO "st""ore"',
    'GRANT SELECT ON public.schema_migrations TO "st""ore"',
    'REVOKE ALL ON ALL TABLES IN SCHEMA "shop" FROM "st""ore"',
    'REVOKE ALL ON ALL SEQUENCES IN SCHEMA "shop" FROM "st""ore"',
    'REVOKE ALL ON ALL ROUTINES IN SCHEMA "shop" FROM "st""ore"',
    'REVOKE ALL ON SCHEMA "shop" FROM "st""ore"',
    'GRANT USAGE ON SCHEMA "shop" TO "st""ore"',
    'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "shop" TO "st""ore"',
    'GRANT USAGE ON ALL SEQUENCES IN SCHEMA "shop" TO "st""ore"',
    'REVOKE ALL ON ALL TABLES IN SCHEMA "Access ""2""" FROM "st""ore"',
    'REVOKE ALL ON ALL SEQUENCES IN SCHEMA "Access ""2""" FROM "st""ore"',
    'REVOKE ALL ON ALL ROUTINES IN SCHEMA "Access ""2""" FROM "st""ore"',
    'REVOKE ALL ON SCHEMA "Access ""2""" FROM "st""ore"',
    'GRANT USAGE ON SCHEMA "Access ""2""" TO "st""ore"',
    'GRANT SELECT ON access.keys TO "st""ore"',
    'GRANT UPDATE (used_at) ON access.keys TO "st""ore"',
    'COMMIT',
  ]);
});

it('a role for keys has privileges only in contexts that grant some, and loses all others', () => {
  expect(grantStatements(persistence, 'keys', 'operator')).toEqual([
    'BEGIN',
    "SET LOCAL search_path = ''",
    `SET LOCAL animal_store.role = 'operator'`,
    expect.stringMatching(/^DO /),
    'REVOKE ALL ON public.schema_migrations FROM "operator"',
    'REVOKE ALL ON ALL TABLES IN SCHEMA "shop" FROM "operator"',
    'REVOKE ALL ON ALL SEQUENCES IN SCHEMA "shop" FROM "operator"',
    'REVOKE ALL ON ALL ROUTINES IN SCHEMA "shop" FROM "operator"',
    'REVOKE ALL ON SCHEMA "shop" FROM "operator"',
    'REVOKE ALL ON ALL TABLES IN SCHEMA "Access ""2""" FROM "operator"',
    'REVOKE ALL ON ALL SEQUENCES IN SCHEMA "Access ""2""" FROM "operator"',
    'REVOKE ALL ON ALL ROUTINES IN SCHEMA "Access ""2""" FROM "operator"',
    'REVOKE ALL ON SCHEMA "Access ""2""" FROM "operator"',
    'GRANT USAGE ON SCHEMA "Access ""2""" TO "operator"',
    'GRANT INSERT ON access.keys TO "operator"',
    'COMMIT',
  ]);
});
