-- misordered: one row per positive and negative compared, with the number of pairs it is part of in which the negative
-- reaches above the positive. Running counts find these without forming a pair.
SELECT
  group_id,
  label,
  score,
  reach,
  CASE WHEN label = 1 THEN negatives_above ELSE all_positives - positives_above END AS pairs,
  counted,
  all_negatives AS negatives
FROM (
  SELECT
    group_id,
    label,
    score,
    reach,
    counted,
    SUM(label) OVER (PARTITION BY group_id) AS all_positives,
    SUM(1 - label) OVER (PARTITION BY group_id) AS all_negatives,
    SUM(label) OVER (
      PARTITION BY group_id ORDER BY reach DESC, label DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS positives_above,
    SUM(1 - label) OVER (
      PARTITION BY group_id ORDER BY reach DESC, label DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS negatives_above
  FROM compared
) AS running
