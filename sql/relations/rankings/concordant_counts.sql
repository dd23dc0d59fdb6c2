-- concordant_counts: one row per list and document shared with the baseline, but the first: its position, and documents above it in both lists.
-- Rows have no doc_id.
-- Grain: list_id, shared_position
SELECT
  shared_positions.list_id,
  shared_positions.shared_position, -- from 2
  SUM(CASE WHEN positions_above.baseline_position < shared_positions.baseline_position THEN 1 ELSE 0 END) AS concordant_above -- shared documents above it in both lists
FROM shared_positions
JOIN shared_positions AS positions_above
  ON positions_above.list_id = shared_positions.list_id AND positions_above.shared_position < shared_positions.shared_position
GROUP BY shared_positions.list_id, shared_positions.shared_position
