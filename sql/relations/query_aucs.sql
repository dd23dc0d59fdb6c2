-- query_aucs: one row per query with the area under its ROC curve, and what it may weigh. A query whose predictions are
-- all of one class has no row.
-- $tie_credit: number from 0 to 1, default 0.5: what a tie of a positive and a negative counts.
-- Units: queries.
SELECT
  group_id,
  SUM(
    positives / NULLIF(all_positives, 0) * ((negatives_below + $tie_credit * negatives) / NULLIF(all_negatives, 0))
  ) AS auc,
  MAX(all_positives) AS positives,
  MAX(all_positives) + MAX(all_negatives) AS weight,
  MAX(all_rows) AS predictions
FROM thresholds
GROUP BY group_id
