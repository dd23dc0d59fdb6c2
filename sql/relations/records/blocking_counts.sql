-- blocking_counts: one row per group: numbers of its record pairs and candidate pairs, and of the true links among each.
-- Validate: unknown_right_id
-- Grain: group_id
SELECT
  comparable_pair_counts.group_id,
  comparable_pair_counts.total_pairs, -- pairs of records
  comparable_pair_counts.true_links, -- true links among all pairs
  COALESCE(candidate_counts.pairs, 0) AS candidate_pairs, -- distinct candidate pairs
  COALESCE(candidate_counts.links, 0) AS candidate_links -- true links among the candidate pairs
FROM comparable_pair_counts
LEFT JOIN (
  -- one row per group with a candidate pair
  SELECT group_id, COUNT(*) AS pairs, SUM(is_link) AS links
  FROM candidate_links
  GROUP BY group_id
) AS candidate_counts
  ON comparable_pair_counts.group_id = candidate_counts.group_id
