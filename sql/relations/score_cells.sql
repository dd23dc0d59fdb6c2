-- score_cells: one row per row of class_weights, with the grid cell of its score and its offset in the cell, from 0 to 1.
-- The grid is fine near 0, 1 and -1, where probabilities and correlations crowd, and coarse at large scores.
-- Materialize: equal scores are aggregated.
-- Nonzero: abs_score.
-- Grain: rows of class_weights
SELECT
  group_id,
  score,
  positives,
  positive_squares,
  negatives,
  negative_squares,
  positive_rows,
  negative_rows,
  label_sum,
  num_rows,
  CAST(FLOOR(grid_position) AS BIGINT) AS cell,
  grid_position - FLOOR(grid_position) AS cell_offset
FROM (
  SELECT
    group_id,
    score,
    positives,
    positive_squares,
    negatives,
    negative_squares,
    positive_rows,
    negative_rows,
    label_sum,
    num_rows,
    4096 * (CASE WHEN score < 0 THEN -1 ELSE 1 END)
      * (CASE WHEN abs_score <= 0.5 THEN compressed_score WHEN abs_score <= 1 THEN 1.92 - compressed_score ELSE 2.92 - compressed_score END) AS grid_position
  FROM (
    SELECT
      group_id,
      score,
      positives,
      positive_squares,
      negatives,
      negative_squares,
      positive_rows,
      negative_rows,
      label_sum,
      num_rows,
      abs_score,
      sixteenth_root(CASE WHEN abs_score <= 0.5 THEN abs_score WHEN abs_score <= 1 THEN 1 - abs_score ELSE 1 / abs_score END) AS compressed_score
    FROM (
      SELECT
        group_id,
        score,
        positives,
        positive_squares,
        negatives,
        negative_squares,
        positive_rows,
        negative_rows,
        label_sum,
        num_rows,
        ABS(CAST(score AS DOUBLE)) AS abs_score
      FROM class_weights
    ) AS sized
  ) AS distant
) AS high
