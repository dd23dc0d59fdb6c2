-- comparable_pair_counts: one row per group: numbers of its record pairs across sources, and of the true links among them.
-- Grain: group_id
SELECT
  group_id,
  (SUM(n) * SUM(n) - SUM(n * source_size)) / 2 AS total_pairs, -- pairs of records of different sources
  SUM(n * (true_size - n)) / 2 AS true_links -- those in one true cluster
FROM (
  -- one row per group, true cluster and source
  SELECT
    group_id, n,
    SUM(n) OVER (PARTITION BY group_id, source) AS source_size,
    SUM(n) OVER (PARTITION BY group_id, true_cluster, unlabeled_record_id) AS true_size
  FROM (
    -- one row per group, true cluster and source
    SELECT
      labeled_records.group_id, labeled_records.true_cluster, labeled_records.unlabeled_record_id,
      records.source,
      CAST(COUNT(*) AS DOUBLE) AS n
    FROM labeled_records
    JOIN records
      ON labeled_records.record_id = records.record_id AND labeled_records.group_id = records.group_id
    GROUP BY labeled_records.group_id, labeled_records.true_cluster, labeled_records.unlabeled_record_id, records.source
  ) AS source_counts
) AS sized_source_counts
GROUP BY group_id
