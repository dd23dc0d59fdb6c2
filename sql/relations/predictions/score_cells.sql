-- score_cells: one row per row of class_weights: its score, a cell of scores that can be sorted without the others, place in it, weights, and counts.
-- A sort of each cell takes less time and memory than one of all scores. The grid of cells is fine near 0, 1 and -1, where
-- probabilities and correlations crowd, and coarse at large scores. Its three pieces grow with the
-- score: at 0.5 the first is 0.958 and the second 1.92 - 0.958, at 1 the second is 1.92 and the third 2.92 - 1.
-- Materialize: equal scores are aggregated.
-- Nonzero: abs_score.
-- Grain: rows of class_weights
SELECT
  group_id, score, positives, positive_squares, negatives, negative_squares, positive_rows,
  negative_rows, label_sum, num_rows,
  CAST(FLOOR(grid_position) AS BIGINT) AS cell, -- number of the grid cell of the score, ascending
  grid_position - FLOOR(grid_position) AS cell_offset -- position in the cell, from 0 to 1
FROM (
  -- one row per row of class_weights, with its place on a grid: the whole part is its cell, so that each is sorted on its own
  SELECT
    absolute_scores.*,
    4096 * (CASE WHEN score < 0 THEN -1 ELSE 1 END)
      * (CASE
        WHEN abs_score <= 0.5 THEN sixteenth_root(abs_score)
        WHEN abs_score <= 1 THEN 1.92 - sixteenth_root(1 - abs_score)
        ELSE 2.92 - sixteenth_root(1 / abs_score)
      END) AS grid_position -- grows with score; cells finest at 0 and just inside 1, -1
  FROM (
    -- one row per row of class_weights
    SELECT
      class_weights.*,
      ABS(CAST(score AS DOUBLE)) AS abs_score
    FROM class_weights
  ) AS absolute_scores
) AS grid_positions
