-- bucketed_scores: one row per row of class_weights, with its bucket, a cell of the grid or part of a crowded one: score, class weights, counts.
-- Note: Buckets only split the sort: metrics stay exact. A cell has 131072 numbers: 0 if whole, 1 to 131071 for parts if crowded.
-- Parts of a crowded cell are narrower near the mean offset of its scores.
-- Grain: rows of score_cells
SELECT
  score_cells.group_id, score_cells.score, score_cells.positives, score_cells.positive_squares,
  score_cells.negatives, score_cells.negative_squares, score_cells.positive_rows,
  score_cells.negative_rows, score_cells.label_sum, score_cells.num_rows,
  131072 * score_cells.cell + CAST(FLOOR(COALESCE(
    65536
    + 65535 * (CASE WHEN score_cells.cell_offset < crowded_cells.mean_offset THEN -1 ELSE 1 END)
      * sixteenth_root(ABS(score_cells.cell_offset - crowded_cells.mean_offset)), 0
  )) AS BIGINT) AS bucket -- bucket number; parts of crowded cells finest at the mean
FROM score_cells
LEFT JOIN crowded_cells
  ON crowded_cells.group_id = score_cells.group_id AND crowded_cells.cell = score_cells.cell
