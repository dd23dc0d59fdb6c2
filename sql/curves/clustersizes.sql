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
  SUM(found) / NULLIF(SUM(found + false_links / 2), 0) AS pairwise_precision,
  SUM(found) / NULLIF(SUM(records * (records - 1)) / 2, 0) AS pairwise_recall,
  SUM(precise) / NULLIF(SUM(records), 0) AS bcubed_precision,
  SUM(squares / NULLIF(records, 0)) / NULLIF(SUM(records), 0) AS bcubed_recall,
  SUM(CASE WHEN parts = 1 AND false_links = 0 THEN 1 ELSE 0 END) / NULLIF(COUNT(*), 0) AS cluster_recall
FROM (
  SELECT
    group_id,
    FLOOR(LN(records - 0.25) / LN(2)) + 2 AS point,
    records,
    parts,
    found,
    false_links,
    precise,
    squares
  FROM true_clusters
) AS told
GROUP BY group_id, point
