-- axis: one row: the root of the lowest score of all groups, and what makes 2^60 of its distance to that of the highest, 0 if
-- there is none.
SELECT
  low,
  COALESCE(1152921504606846976.0 / NULLIF(high - low, 0), 0) AS scale
FROM (
  SELECT
    root(MIN(score)) AS low,
    root(MAX(score)) AS high
  FROM predictions
) AS extremes
