-- closest: one row per cluster of either side, a 1 saying of which, with its greatest Jaccard similarity to one of the other side.
-- Never zero: predicted_size + true_size - n.
SELECT
  group_id,
  1 AS predicted_first,
  0 AS true_first,
  MAX(n / (predicted_size + true_size - n)) AS predicted_jaccard,
  CAST(0 AS DOUBLE) AS true_jaccard
FROM contingency
GROUP BY group_id, predicted_cluster, predicted_alone
UNION ALL
SELECT
  group_id,
  0 AS predicted_first,
  1 AS true_first,
  CAST(0 AS DOUBLE) AS predicted_jaccard,
  MAX(n / (predicted_size + true_size - n)) AS true_jaccard
FROM contingency
GROUP BY group_id, true_cluster, true_alone
