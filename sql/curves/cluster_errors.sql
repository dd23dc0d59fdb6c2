-- ClusterErrors: the true clusters that were predicted wrongly, those with the most wrong links first; a row per cluster.
--     missing_links are pairs of its records in different predicted clusters, false_links pairs of one of its records and one of
--     another true cluster in one predicted cluster, and parts the predicted clusters that its records are in.
-- $k: integer from 1, default 100: maximum number of clusters.
-- Undefined: no row where nothing is wrong.
-- Source: sqlrank; error analysis of er-evaluation.
SELECT
  group_id,
  point,
  true_cluster,
  records,
  num_predicted_clusters AS parts,
  missing_links,
  false_links
FROM (
  SELECT
    group_id,
    ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY missing_links + false_links DESC, records DESC, true_cluster, true_singleton) AS point,
    true_cluster,
    records,
    num_predicted_clusters,
    missing_links,
    false_links
  FROM (
    SELECT
      group_id,
      true_cluster,
      true_singleton,
      records,
      num_predicted_clusters,
      records * (records - 1) / 2 - found_links AS missing_links,
      false_links
    FROM true_cluster_errors
  ) AS counted
  WHERE missing_links + false_links > 0
) AS placed
WHERE point <= $k
