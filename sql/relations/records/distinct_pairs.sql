-- distinct_pairs: one row per distinct candidate pair, in either order: its ids, the lesser first.
-- Grain: first_id, second_id
SELECT
  smaller(left_id, right_id) AS first_id,
  greater(right_id, left_id) AS second_id
FROM candidate_pairs
GROUP BY smaller(left_id, right_id), greater(right_id, left_id)
