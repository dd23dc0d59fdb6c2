-- shadowing_functions_postgres: one row per function in the search path that PostgreSQL may call instead of a built-in one of the same name.
-- These functions are in a schema before pg_catalog, or have other arguments. Functions with arguments of user-defined types, or types
-- of extensions, are called for these only.
-- Grain: many per name
SELECT functions.proname AS name, schemas.nspname || '.' || functions.proname AS full_name
FROM pg_proc AS functions
JOIN pg_namespace AS schemas ON schemas.oid = functions.pronamespace
WHERE schemas.nspname <> 'pg_catalog' AND schemas.nspname = ANY(CURRENT_SCHEMAS(TRUE))
  AND EXISTS (
    SELECT 1
    FROM pg_proc
    JOIN pg_namespace ON pg_namespace.oid = pg_proc.pronamespace
    WHERE pg_namespace.nspname = 'pg_catalog' AND pg_proc.proname = functions.proname
  )
  AND NOT EXISTS (
    SELECT 1
    FROM pg_type
    JOIN pg_namespace ON pg_namespace.oid = pg_type.typnamespace
    WHERE pg_namespace.nspname <> 'pg_catalog' AND pg_type.oid = ANY(functions.proargtypes)
  )
  AND NOT (
    ARRAY_POSITION(CURRENT_SCHEMAS(TRUE), 'pg_catalog') < ARRAY_POSITION(CURRENT_SCHEMAS(TRUE), schemas.nspname)
    AND EXISTS (
      SELECT 1
      FROM pg_proc
      JOIN pg_namespace ON pg_namespace.oid = pg_proc.pronamespace
      WHERE
        pg_namespace.nspname = 'pg_catalog'
        AND pg_proc.proname = functions.proname
        AND pg_proc.proargtypes = functions.proargtypes
    )
  )
