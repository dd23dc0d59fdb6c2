-- segments: one row per distinct score with the weight of each class at it, above and below it; nothing is between one and
-- the next.
SELECT
  group_id,
  1 AS place,
  score AS threshold,
  positives,
  squares,
  positive_rows,
  negatives,
  negative_squares,
  negative_rows,
  CAST(0 AS DOUBLE) AS next_negatives,
  CAST(0 AS DOUBLE) AS next_squares,
  0 AS next_rows,
  positives_above,
  negatives_above,
  positives_below,
  negatives_below,
  all_positives,
  all_negatives,
  all_rows
FROM scores
