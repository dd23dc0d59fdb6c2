-- distinct_pairs: one row per distinct candidate pair, in either order: its ids, the lesser first.
-- Grain: first_id, second_id
SELECT
  CASE WHEN left_id < right_id THEN left_id ELSE right_id END AS first_id,
  CASE WHEN left_id < right_id THEN right_id ELSE left_id END AS second_id
FROM candidate_pairs
GROUP BY CASE WHEN left_id < right_id THEN left_id ELSE right_id END, CASE WHEN left_id < right_id THEN right_id ELSE left_id END
