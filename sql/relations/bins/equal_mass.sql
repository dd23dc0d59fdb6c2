-- bins: one row per bin of equally many predictions, in the order of their scores, with its weight and the sums of
-- scores and labels in it. Equal scores share a bin.
-- $bins: integer from 1 to 100000, default 10: number of bins.
-- Never zero: all_rows.
SELECT
  group_id,
  bin,
  SUM(weight) AS weight,
  SUM(weight * score) AS predicted,
  SUM(observed) AS observed
FROM (
  SELECT
    group_id,
    score,
    weight,
    observed,
    1 + FLOOR($bins * rows_below / all_rows) AS bin
  FROM standing
) AS binned
GROUP BY group_id, bin
