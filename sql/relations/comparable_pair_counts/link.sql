-- comparable_pair_counts: one row per group, with its number of record pairs across sources and of true links among them.
-- Grain: group_id
SELECT
  group_id,
  (SUM(n) * SUM(n) - SUM(n * source_size)) / 2 AS total_pairs,
  SUM(n * (true_size - n)) / 2 AS true_links
FROM (
  SELECT
    group_id,
    n,
    SUM(n) OVER (PARTITION BY group_id, source) AS source_size,
    SUM(n) OVER (PARTITION BY group_id, true_cluster, true_singleton) AS true_size
  FROM (
    SELECT l.group_id, l.true_cluster, l.true_singleton, r.source, CAST(COUNT(*) AS DOUBLE) AS n
    FROM labeled_records AS l
    JOIN records AS r
      ON l.record_id = r.record_id AND l.group_id = r.group_id
    GROUP BY l.group_id, l.true_cluster, l.true_singleton, r.source
  ) AS counted
) AS met
GROUP BY group_id
