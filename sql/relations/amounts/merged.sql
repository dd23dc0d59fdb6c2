-- amounts: one row per distinct score with the weight of each class; squares is the sum of the squared weights of positives.
SELECT
  group_id,
  score,
  positives,
  squares,
  negatives,
  negative_squares,
  positive_rows,
  negative_rows,
  observed,
  tied_rows
FROM tied
