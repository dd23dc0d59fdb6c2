-- candidate_links: one row per group and distinct candidate pair of labeled records, in either order: 1 if in one true cluster, else 0, no ids.
-- Validate: unknown_left_id
-- Grain: many per group_id
SELECT
  left_records.group_id,
  CASE
    WHEN left_records.true_cluster = right_records.true_cluster THEN 1
    ELSE 0
  END AS is_link -- 1 if both records are in one true cluster, else 0
FROM distinct_pairs
JOIN labeled_records AS left_records
  ON distinct_pairs.first_id = left_records.record_id
JOIN labeled_records AS right_records
  ON distinct_pairs.second_id = right_records.record_id AND left_records.group_id = right_records.group_id
