-- entropies: one row per group: what the clusterings tell of each other in nats, and what is left untold.
-- Never zero: c.n, c.true_size, c.predicted_size, c.predicted_size * c.true_size.
SELECT
  group_id,
  predicted_rest,
  true_rest,
  mutual_information,
  predicted_entropy,
  true_entropy,
  CASE WHEN true_clusters = 1 THEN 1 ELSE 1 - true_rest / NULLIF(true_entropy, 0) END AS homogeneity,
  CASE WHEN predicted_clusters = 1 THEN 1 ELSE 1 - predicted_rest / NULLIF(predicted_entropy, 0) END AS completeness
FROM (
  SELECT
    c.group_id,
    SUM(c.predicted_first) AS predicted_clusters,
    SUM(c.true_first) AS true_clusters,
    SUM(c.n * LN(c.true_size / c.n)) / NULLIF(SUM(c.n), 0) AS predicted_rest,
    SUM(c.n * LN(c.predicted_size / c.n)) / NULLIF(SUM(c.n), 0) AS true_rest,
    SUM(c.n * LN(e.records / c.predicted_size)) / NULLIF(SUM(c.n), 0) AS predicted_entropy,
    SUM(c.n * LN(e.records / c.true_size)) / NULLIF(SUM(c.n), 0) AS true_entropy,
    SUM(c.n * LN(c.n * e.records / (c.predicted_size * c.true_size))) / NULLIF(SUM(c.n), 0) AS mutual_information
  FROM contingency AS c
  LEFT JOIN evaluated AS e
    ON c.group_id = e.group_id
  GROUP BY c.group_id
) AS told
