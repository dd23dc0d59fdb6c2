-- candidate_links: one row per group and distinct candidate pair of labeled records of different sources: 1 if in one true cluster, else 0, no ids.
-- Validate: unknown_left_id
-- Grain: many per group_id
SELECT
  left_labels.group_id,
  CASE
    WHEN left_labels.true_cluster = right_labels.true_cluster THEN 1
    ELSE 0
  END AS is_link -- 1 if both records are in one true cluster, else 0
FROM distinct_pairs
JOIN labeled_records AS left_labels
  ON distinct_pairs.first_id = left_labels.record_id
JOIN labeled_records AS right_labels
  ON distinct_pairs.second_id = right_labels.record_id AND left_labels.group_id = right_labels.group_id
JOIN records AS left_records
  ON left_labels.record_id = left_records.record_id AND left_labels.group_id = left_records.group_id
JOIN records AS right_records
  ON right_labels.record_id = right_records.record_id AND right_labels.group_id = right_records.group_id
WHERE left_records.source <> right_records.source
