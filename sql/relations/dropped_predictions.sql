-- dropped_predictions: rows per group: how many predictions were given, and, less than 0, how many of these are read.
SELECT
  group_id,
  given_rows AS dropped_rows
FROM given_predictions
UNION ALL
SELECT
  group_id,
  -all_rows AS dropped_rows
FROM totals
