-- scores: one row per distinct score, highest first, with the weight of each class at that score and above it.
SELECT
  list_id,
  score,
  positives,
  squares,
  negatives,
  positives_upto - positives AS positives_above,
  negatives_upto - negatives AS negatives_above,
  all_positives,
  all_negatives,
  all_rows
FROM (
  SELECT
    list_id,
    score,
    positives,
    squares,
    negatives,
    SUM(positives) OVER (PARTITION BY list_id ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS positives_upto,
    SUM(negatives) OVER (PARTITION BY list_id ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS negatives_upto,
    SUM(positives) OVER (PARTITION BY list_id) AS all_positives,
    SUM(negatives) OVER (PARTITION BY list_id) AS all_negatives,
    SUM(tied_rows) OVER (PARTITION BY list_id) AS all_rows
  FROM tied
) AS running
