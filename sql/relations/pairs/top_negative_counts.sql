-- top_negative_counts: one row per group and distinct score of a positive: positives and top positives at it, and top negatives at, above and below it.
-- Rows have no score.
-- $k: integer from 1: number of the highest negatives that positives are compared with.
-- few_negatives(): default truncate: rule for groups with fewer than k negatives.
-- Grain: rows of positive_thresholds
SELECT
  group_id,
  positives, -- weight of the positives of this score
  CASE
    WHEN positives_above >= $k THEN 0
    WHEN positives_above + positives > $k THEN $k - positives_above
    ELSE positives
  END AS top_positives, -- weight of the k highest positives at this score
  smaller(negatives_above, num_top_negatives) AS top_negatives_above, -- weight of the k highest negatives above this score
  CASE
    WHEN negatives_above + negatives < num_top_negatives THEN num_top_negatives - negatives_above - negatives
    ELSE 0
  END AS top_negatives_below, -- weight of the k highest negatives below this score
  CASE
    WHEN negatives_above + negatives <= num_top_negatives THEN negatives
    WHEN negatives_above < num_top_negatives THEN num_top_negatives - negatives_above
    ELSE 0
  END AS top_negatives_tied -- weight of the k highest negatives at this score
FROM (
  -- one row per group and distinct score of a positive
  SELECT
    positive_thresholds.*,
    few_negatives($k, total_negatives) AS num_top_negatives
  FROM positive_thresholds
) AS negative_limits
