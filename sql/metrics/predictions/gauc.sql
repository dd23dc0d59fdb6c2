-- GAUC: mean over queries (users, sessions) of the AUC of each, which is that of the order within it.
--     GAUC = sum over queries of importance * AUC / sum over the same queries of importance
-- Full name: grouped area under the ROC curve.
-- Use when: scores are only compared within a user, query or session. AUC over all rows mixes differences between users in.
-- query_weight(): default count: weight of a query in the mean.
-- level: default query: scores are compared within a query only.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Reference value: 0.5 (random scores).
-- Undefined: no query with predictions of both classes; a query of one class does not count.
-- Source: Zhu et al. 2017 (count); torchrec uAUC (equal) and wuAUC (weight).
SELECT
  group_id,
  SUM(query_weight(num_predictions, weight, total_positives) * auc)
    / NULLIF(SUM(CASE WHEN auc IS NOT NULL THEN query_weight(num_predictions, weight, total_positives) ELSE 0 END), 0) AS gauc
FROM query_aucs
GROUP BY group_id
