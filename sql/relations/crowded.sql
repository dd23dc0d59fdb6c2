-- crowded: one row per cell that holds more than 1/256 of all predictions, with the mean place of those in it; made of
-- integers, so that it is the same however often and in whatever order an engine adds it up.
-- Never zero: c.cell_rows.
SELECT
  c.group_id,
  c.cell,
  CAST(c.places AS DOUBLE) / c.cell_rows / 16777216 AS centre
FROM (
  SELECT
    group_id,
    cell,
    SUM(tied_rows * CAST(FLOOR(16777216 * place) AS BIGINT)) AS places,
    SUM(tied_rows) AS cell_rows
  FROM heights
  GROUP BY group_id, cell
) AS c
CROSS JOIN (
  SELECT COUNT(*) AS all_rows
  FROM predictions
) AS n
WHERE 256 * c.cell_rows > n.all_rows
