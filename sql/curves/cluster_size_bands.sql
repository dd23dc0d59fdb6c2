-- ClusterSizes: how well true clusters of each size were predicted; a row for sizes 1, 2, 3 to 4, 5 to 8, and so on.
--     A predicted link that leads to another true cluster counts half for each of the two.
-- Undefined: no pairwise recall of clusters of one record; no precision where nothing is linked.
-- Source: sqlrank.
SELECT
  group_id,
  point,
  MIN(records) AS smallest,
  MAX(records) AS largest,
  COUNT(*) AS clusters,
  SUM(records) AS all_records,
  SUM(found_links) / NULLIF(SUM(found_links + false_links / 2), 0) AS pairwise_precision,
  SUM(found_links) / NULLIF(SUM(records * (records - 1)) / 2, 0) AS pairwise_recall,
  SUM(bcubed_precision_sum) / NULLIF(SUM(records), 0) AS bcubed_precision,
  SUM(overlap_squares / NULLIF(records, 0)) / NULLIF(SUM(records), 0) AS bcubed_recall,
  SUM(CASE WHEN num_predicted_clusters = 1 AND false_links = 0 THEN 1 ELSE 0 END) / NULLIF(COUNT(*), 0) AS cluster_recall
FROM (
  SELECT
    group_id,
    FLOOR(LN(records - 0.25) / LN(2)) + 2 AS point,
    records,
    num_predicted_clusters,
    found_links,
    false_links,
    bcubed_precision_sum,
    overlap_squares
  FROM true_cluster_errors
) AS told
GROUP BY group_id, point
