-- shadowing_functions_sqlite: one row per user-defined function that has the name of a built-in function of SQLite.
-- Grain: name
SELECT name, 'the function ' || name AS full_name
FROM pragma_function_list
GROUP BY name
HAVING MIN(builtin) = 0 AND MAX(builtin) = 1
