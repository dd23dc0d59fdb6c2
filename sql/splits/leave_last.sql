-- leave_last: one row per input row, where the last rows of each key by time are test, and keys with no more rows than that are train.
-- Rows of equal time, and of equal item if items are named, are in one part: train, unless all of them are among the last.
-- Grain: rows of source_rows
SELECT
  g.*,
  CASE
    WHEN COUNT(*) OVER (PARTITION BY g.key ORDER BY g.time DESC, g.item DESC) <= $last AND COUNT(*) OVER (PARTITION BY g.key) > $last
    THEN $second ELSE $first
  END AS split
FROM source_rows AS g
