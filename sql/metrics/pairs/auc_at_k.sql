-- AUC@k: AUC of the k highest predictions alone: how probably a positive among them is scored above a negative among them.
-- $k: integer from 1: how many predictions, the highest, are looked at; under weights how much weight of them.
-- $tie_credit: number from 0 to 1, default 0.5: what a tie of a positive and a negative counts.
-- Requires: binary labels.
-- No influence: which negatives are the highest moves with the rows.
-- Undefined: the first k predictions are of one class.
-- Source: TorchMetrics RetrievalAUROC(top_k); of predictions tied across the k-th each counts in part.
SELECT
  group_id,
  1 - SUM(CASE WHEN above < $k THEN positives * (negatives_above + (1 - $tie_credit) * negatives) ELSE 0 END)
    / NULLIF(SUM(CASE WHEN above < $k THEN positives ELSE 0 END) * SUM(CASE WHEN above < $k THEN negatives ELSE 0 END), 0) AS auc_at_k
FROM leaders
GROUP BY group_id
