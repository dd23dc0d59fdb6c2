-- axis: one row: the root of the lowest score of all groups, what makes the number of the last cell of its distance to that of
-- the highest, 0 if there is none, that number, and how many keys a group has: two for each cell. All groups have 2^48 at most.
SELECT
  e.low,
  COALESCE(c.last_cell / NULLIF(e.high - e.low, 0), 0) AS scale,
  c.last_cell,
  2 * c.last_cell + 2 AS keys
FROM (
  SELECT
    root(MIN(score)) AS low,
    root(MAX(score)) AS high
  FROM predictions
) AS e
CROSS JOIN (
  SELECT FLOOR(140737488355328.0 / NULLIF(COUNT(*), 0)) - 1 AS last_cell
  FROM strata
) AS c
