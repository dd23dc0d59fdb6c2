-- ordinals: the numbers from 1 to the size of the largest predicted cluster of a group.
SELECT
  group_id,
  ordinal
FROM (
  SELECT
    group_id,
    ROW_NUMBER() OVER (PARTITION BY group_id, predicted_cluster, predicted_alone ORDER BY record_id) AS ordinal
  FROM resolved
) AS numbered
GROUP BY group_id, ordinal
