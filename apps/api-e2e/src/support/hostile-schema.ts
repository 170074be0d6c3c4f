/**
 * SQL that creates a schema with failing copies of PostgreSQL's non-variadic functions and aggregates, its binary operators, and types
 * that statements name. With this schema before `pg_catalog` in the `search_path`, calls without a schema fail.
 */
export const HOSTILE_SCHEMA = `
  CREATE SCHEMA hostile;
  GRANT ALL ON SCHEMA hostile TO PUBLIC;
  DO $$
  DECLARE
    shadowed record;
    body constant text := $body$ LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''a hostile object was used''; END' $body$;
  BEGIN
    FOR shadowed IN
      SELECT proname AS name, pg_get_function_identity_arguments(oid) AS arguments, pg_get_function_result(oid) AS result
      FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind IN ('f', 'a') AND provariadic = 0
    LOOP
      BEGIN
        EXECUTE format('CREATE FUNCTION hostile.%I(%s) RETURNS %s', shadowed.name, shadowed.arguments, shadowed.result) || body;
      EXCEPTION WHEN OTHERS THEN
        -- Functions with internal types, and ordered-set aggregates, cannot be copied.
        NULL;
      END;
    END LOOP;
    FOR shadowed IN
      SELECT oid, oprname AS name, oprleft::regtype AS l, oprright::regtype AS r, oprresult::regtype AS result
      FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprleft <> 0
    LOOP
      EXECUTE format('CREATE FUNCTION hostile.operator_%s(%s, %s) RETURNS %s', shadowed.oid, shadowed.l, shadowed.r, shadowed.result) || body;
      EXECUTE format('CREATE OPERATOR hostile.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = hostile.operator_%s)',
        shadowed.name, shadowed.l, shadowed.r, shadowed.oid);
    END LOOP;
  END $$;
  CREATE DOMAIN hostile.text AS pg_catalog.bool;
  CREATE DOMAIN hostile.bytea AS pg_catalog.bool;
  CREATE DOMAIN hostile.json AS pg_catalog.bool;
  CREATE DOMAIN hostile.jsonb AS pg_catalog.bool;
  CREATE DOMAIN hostile.timestamptz AS pg_catalog.bool`;
