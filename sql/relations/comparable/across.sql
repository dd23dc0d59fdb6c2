-- comparable: one row per group: how many pairs of records of different sources there are, and how many of them are links.
SELECT
  group_id,
  (SUM(n) * SUM(n) - SUM(n * source_size)) / 2 AS all_pairs,
  SUM(n * (true_size - n)) / 2 AS true_links
FROM (
  SELECT
    group_id,
    n,
    SUM(n) OVER (PARTITION BY group_id, source) AS source_size,
    SUM(n) OVER (PARTITION BY group_id, true_cluster, true_alone) AS true_size
  FROM (
    SELECT l.group_id, l.true_cluster, l.true_alone, r.source, CAST(COUNT(*) AS DOUBLE) AS n
    FROM labelled AS l
    JOIN records AS r
      ON l.record_id = r.record_id AND l.group_id = r.group_id
    GROUP BY l.group_id, l.true_cluster, l.true_alone, r.source
  ) AS counted
) AS met
GROUP BY group_id
