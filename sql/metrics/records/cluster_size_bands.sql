-- ClusterSizes: one row per group and band of sizes of true clusters (1, 2, 3 to 4, ...): clusters, records, pairwise and B-cubed scores.
-- A predicted link that leads to another true cluster counts half for each of the two.
-- Use when: you want to see if errors come from small or from large clusters.
-- Undefined: no pairwise recall of clusters of one record; no precision where nothing is linked.
-- Source: sqlrank.
SELECT
  group_id,
  point, -- number of the band
  MIN(records) AS smallest, -- size of the smallest cluster
  MAX(records) AS largest, -- size of the largest cluster
  COUNT(*) AS clusters, -- true clusters of the band
  SUM(records) AS all_records, -- records of these clusters
  SUM(found_links) / NULLIF(SUM(found_links + false_links / 2), 0) AS pairwise_precision, -- false links count half for each of two clusters
  SUM(found_links) / NULLIF(SUM(records * (records - 1)) / 2, 0) AS pairwise_recall, -- NULL for clusters of one record
  SUM(bcubed_precision_sum) / NULLIF(SUM(records), 0) AS bcubed_precision,
  SUM(overlap_squares / NULLIF(records, 0)) / NULLIF(SUM(records), 0) AS bcubed_recall,
  SUM(
    CASE WHEN num_predicted_clusters = 1 AND false_links = 0 THEN 1 ELSE 0 END) / NULLIF(COUNT(*), 0
  ) AS cluster_recall -- share of the clusters that were predicted exactly
FROM (
  -- one row per group and true cluster
  SELECT
    true_cluster_errors.*,
    FLOOR(LN(records - 0.25) / LN(2)) + 2 AS point -- number of the band
  FROM true_cluster_errors
) AS banded_clusters
GROUP BY group_id, point
