-- ladder: one row per group and item of the catalogue that is shown, with its place among all of them, the least shown first:
-- those that are not shown stand below it.
SELECT
  group_id,
  shows,
  catalogue_docs,
  catalogue_docs - COUNT(*) OVER (PARTITION BY group_id) + ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY shows) AS place
FROM exposures
WHERE is_listed = 1
