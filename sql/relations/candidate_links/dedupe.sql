-- candidate_links: one row per distinct candidate pair of records, in either order, with whether both records are in one true cluster.
-- Validate: unknown_left_id
-- Grain: many per group_id
SELECT
  l.group_id,
  CASE WHEN l.true_cluster = r.true_cluster THEN 1 ELSE 0 END AS is_link
FROM (
  SELECT
    CASE WHEN left_id < right_id THEN left_id ELSE right_id END AS first_id,
    CASE WHEN left_id < right_id THEN right_id ELSE left_id END AS second_id
  FROM candidate_pairs
  GROUP BY CASE WHEN left_id < right_id THEN left_id ELSE right_id END, CASE WHEN left_id < right_id THEN right_id ELSE left_id END
) AS p
JOIN labeled_records AS l
  ON p.first_id = l.record_id
JOIN labeled_records AS r
  ON p.second_id = r.record_id AND l.group_id = r.group_id
