-- score_thresholds: one row per group and distinct score, with sums over higher and lower scores: weights of classes, squares, numbers, totals.
-- weight_below(): default by_sum: how the weight below a score is computed.
-- Materialize: all predictions are sorted.
-- Grain: group_id, score
SELECT
  group_id, score,
  positives, -- weight of the positives of this score
  positive_squares, -- sum of their squared weights
  negatives, -- weight of the negatives of this score
  negative_squares, -- sum of their squared weights
  positive_rows, -- positives of this score with positive weight
  negative_rows, -- negatives of this score with positive weight
  COALESCE(SUM(positives) OVER (
    PARTITION BY group_id ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS positives_above,
  COALESCE(SUM(negatives) OVER (
    PARTITION BY group_id ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS negatives_above,
  weight_below(
    SUM(positives) OVER (PARTITION BY group_id),
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0),
    positives,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id ORDER BY score DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0)
  ) AS positives_below, -- sum over lower scores
  weight_below(
    SUM(negatives) OVER (PARTITION BY group_id),
    COALESCE(SUM(negatives) OVER (
      PARTITION BY group_id ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0),
    negatives,
    COALESCE(SUM(negatives) OVER (
      PARTITION BY group_id ORDER BY score DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0)
  ) AS negatives_below, -- sum over lower scores
  SUM(positives) OVER (PARTITION BY group_id) AS total_positives,
  SUM(negatives) OVER (PARTITION BY group_id) AS total_negatives,
  SUM(num_rows) OVER (PARTITION BY group_id) AS total_rows
FROM score_class_weights
