-- adjusted: one row per group: mutual information, what it is at random, and the most that it can be, the mean of both entropies.
SELECT
  n.group_id,
  n.mutual_information,
  (n.predicted_entropy + n.true_entropy) / 2 AS most_information,
  n.predicted_rest + n.true_rest AS rest,
  x.expected_information
FROM entropies AS n
LEFT JOIN expected AS x
  ON n.group_id = x.group_id
