-- contests: one row per distinct score of a positive, highest first, with the weight of the k highest negatives that are
-- below it and at it.
-- $k: integer from 1: how many negatives, the highest, positives are compared with.
-- few_negatives(): default truncate: what is done where there are fewer than k negatives.
SELECT
  group_id,
  positives,
  positives_above,
  all_positives,
  all_negatives,
  CASE WHEN negatives_above + negatives < rivals THEN rivals - negatives_above - negatives ELSE 0 END AS rivals_below,
  CASE
    WHEN negatives_above + negatives <= rivals THEN negatives
    WHEN negatives_above < rivals THEN rivals - negatives_above
    ELSE 0
  END AS rivals_tied
FROM (
  SELECT
    group_id,
    positives,
    negatives,
    positives_above,
    negatives_above,
    all_positives,
    all_negatives,
    few_negatives($k, all_negatives) AS rivals
  FROM thresholds
) AS compared
