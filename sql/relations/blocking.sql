-- blocking: one row per group: the pairs of its records, those that are links, and the same of the candidate pairs.
-- Check: strangers_right
SELECT
  c.group_id,
  c.all_pairs,
  c.true_links,
  COALESCE(b.pairs, 0) AS candidate_pairs,
  COALESCE(b.links, 0) AS candidate_links
FROM comparable AS c
LEFT JOIN (SELECT group_id, COUNT(*) AS pairs, SUM(is_link) AS links FROM blocked GROUP BY group_id) AS b
  ON c.group_id = b.group_id
