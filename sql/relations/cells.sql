-- cells: one row per cell of the score axis that holds predictions, with its bounds and the number of parts that it is
-- cut into: a thousand to a list, shared out by how many predictions a cell holds.
SELECT
  list_id,
  cell,
  lowest,
  highest,
  1 + FLOOR(1000 * cell_rows / SUM(cell_rows) OVER (PARTITION BY list_id)) AS parts
FROM (
  SELECT
    list_id,
    cell,
    MIN(score) AS lowest,
    MAX(score) AS highest,
    COUNT(*) AS cell_rows
  FROM heights
  GROUP BY list_id, cell
) AS counted
