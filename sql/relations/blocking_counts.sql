-- blocking_counts: one row per group, with its record pairs and true links, and its candidate pairs and the links among these.
-- Validate: unknown_right_id
-- Grain: group_id
SELECT
  c.group_id,
  c.total_pairs,
  c.true_links,
  COALESCE(b.pairs, 0) AS candidate_pairs,
  COALESCE(b.links, 0) AS candidate_links
FROM comparable_pair_counts AS c
LEFT JOIN (SELECT group_id, COUNT(*) AS pairs, SUM(is_link) AS links FROM candidate_links GROUP BY group_id) AS b
  ON c.group_id = b.group_id
