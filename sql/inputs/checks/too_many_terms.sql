-- too_many_terms: one row per group whose expected mutual information is a sum of too many terms: the number of terms.
-- The terms are, for every size of a predicted and of a true cluster, as many as the smaller of both.
-- Grain: group_id
SELECT
  p.group_id,
  SUM(CASE WHEN p.size < t.size THEN p.size ELSE t.size END) AS terms -- more than 100,000,000 are not summed. Ask for AdjustedRand or VMeasure
FROM predicted_cluster_sizes AS p
JOIN true_cluster_sizes AS t
  ON p.group_id = t.group_id
GROUP BY p.group_id
HAVING SUM(CASE WHEN p.size < t.size THEN p.size ELSE t.size END) > 100000000
