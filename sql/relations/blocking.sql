-- blocking: one row per group: its records and their true links, and the candidate pairs and how many of these are links.
-- Check: strangers_right
SELECT
  t.group_id,
  t.records,
  t.true_links,
  COALESCE(b.pairs, 0) AS candidate_pairs,
  COALESCE(b.links, 0) AS candidate_links
FROM (
  SELECT
    group_id,
    SUM(n) AS records,
    SUM(n * (n - 1)) / 2 AS true_links
  FROM (
    SELECT group_id, true_cluster, true_alone, CAST(COUNT(*) AS DOUBLE) AS n
    FROM labelled
    GROUP BY group_id, true_cluster, true_alone
  ) AS counted
  GROUP BY group_id
) AS t
LEFT JOIN (SELECT group_id, COUNT(*) AS pairs, SUM(is_link) AS links FROM blocked GROUP BY group_id) AS b
  ON t.group_id = b.group_id
