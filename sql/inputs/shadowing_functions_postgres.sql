-- shadowing_functions_postgres: one row per function in the search path that PostgreSQL may call instead of a built-in one of the same name.
-- These functions are in a schema before pg_catalog, or have other arguments. Functions with arguments of user-defined types, or types
-- of extensions, are called for these only.
-- Grain: many per name
SELECT p.proname AS name, n.nspname || '.' || p.proname AS full_name
FROM pg_proc AS p
JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname <> 'pg_catalog' AND n.nspname = ANY(CURRENT_SCHEMAS(TRUE))
  AND EXISTS (
    SELECT 1 FROM pg_proc AS b JOIN pg_namespace AS c ON c.oid = b.pronamespace WHERE c.nspname = 'pg_catalog' AND b.proname = p.proname
  )
  AND NOT EXISTS (
    SELECT 1
    FROM pg_type AS t
    JOIN pg_namespace AS o ON o.oid = t.typnamespace
    WHERE o.nspname <> 'pg_catalog' AND t.oid = ANY(p.proargtypes)
  )
  AND NOT (
    ARRAY_POSITION(CURRENT_SCHEMAS(TRUE), 'pg_catalog') < ARRAY_POSITION(CURRENT_SCHEMAS(TRUE), n.nspname)
    AND EXISTS (
      SELECT 1
      FROM pg_proc AS b
      JOIN pg_namespace AS c ON c.oid = b.pronamespace
      WHERE c.nspname = 'pg_catalog' AND b.proname = p.proname AND b.proargtypes = p.proargtypes
    )
  )
