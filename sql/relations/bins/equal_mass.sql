-- bins: one row per bin of equally many predictions, in the order of their scores, with its weight and the sums of
-- scores and labels in it. Equal scores share a bin.
-- $bins: integer from 1, default 10: number of bins.
SELECT
  list_id,
  bin,
  SUM(weight) AS weight,
  SUM(weight * score) AS predicted,
  SUM(weight * label) AS observed
FROM (
  SELECT
    list_id,
    label,
    score,
    weight,
    1 + FLOOR($bins * rows_below / all_rows) AS bin
  FROM (
    SELECT
      list_id,
      label,
      score,
      weight,
      RANK() OVER (PARTITION BY list_id ORDER BY score) - 1 AS rows_below,
      COUNT(*) OVER (PARTITION BY list_id) AS all_rows
    FROM predictions
  ) AS ranked
) AS binned
GROUP BY list_id, bin
