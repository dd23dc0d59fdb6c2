-- closest: contingency with the greatest Jaccard similarity of each cluster to one of the other side.
-- Never zero: predicted_size + true_size - n.
SELECT
  group_id,
  predicted_first,
  true_first,
  MAX(n / (predicted_size + true_size - n)) OVER (PARTITION BY group_id, predicted_cluster, predicted_alone) AS predicted_jaccard,
  MAX(n / (predicted_size + true_size - n)) OVER (PARTITION BY group_id, true_cluster, true_alone) AS true_jaccard
FROM contingency
