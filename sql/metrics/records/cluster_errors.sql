-- ClusterErrors: one row per group and wrongly predicted true cluster, most wrong links first: records, parts, missing and false links.
-- Use when: you want to look at the worst clusters first.
-- $k: integer from 1, default 100: maximum number of clusters.
-- Undefined: no row where nothing is wrong.
-- Source: sqlrank; error analysis of er-evaluation.
SELECT
  group_id,
  point, -- number of the row, from 1 for the most wrong links
  true_cluster,
  records, -- of the true cluster
  num_predicted_clusters AS parts, -- predicted clusters that its records are in
  missing_links, -- pairs of its records in different predicted clusters
  false_links -- pairs with a record of another true cluster
FROM (
  -- one row per group and true cluster with a wrong link
  SELECT
    link_errors.*,
    ROW_NUMBER() OVER (
      PARTITION BY group_id ORDER BY missing_links + false_links DESC, records DESC, true_cluster, unlabeled_record_id
    ) AS point
  FROM (
    -- one row per group and true cluster
    SELECT
      true_cluster_errors.*,
      records * (records - 1) / 2 - found_links AS missing_links
    FROM true_cluster_errors
  ) AS link_errors
  WHERE missing_links + false_links > 0
) AS ordered_errors
WHERE point <= $k
