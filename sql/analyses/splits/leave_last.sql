-- leave_last: one row per row of the input: its columns, and its part: the last rows of each key are test, keys without others train.
-- Rows of equal time, and of equal item if items are named, are in one part: train, unless all of them are among the last.
-- Grain: rows of source_rows
SELECT
  source_rows.*,
  CASE
    WHEN COUNT(*) OVER (PARTITION BY source_rows.key ORDER BY source_rows.time DESC, source_rows.item DESC) <= $last
      AND COUNT(*) OVER (PARTITION BY source_rows.key) > $last
      THEN $second
    ELSE $first
  END AS split
FROM source_rows
