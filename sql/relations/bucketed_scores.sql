-- bucketed_scores: one row per row of class_weights, with the bucket of its score.
-- Buckets are numbered upwards. A bucket is a cell of the score grid; a crowded cell is divided into several, which are narrower near
-- the mean offset of its scores.
-- Grain: rows of score_cells
SELECT
  h.group_id,
  h.score,
  h.positives,
  h.positive_squares,
  h.negatives,
  h.negative_squares,
  h.positive_rows,
  h.negative_rows,
  h.label_sum,
  h.num_rows,
  131072 * h.cell + CAST(FLOOR(COALESCE(
    65536 + 65535 * (CASE WHEN h.cell_offset < c.mean_offset THEN -1 ELSE 1 END) * sixteenth_root(ABS(h.cell_offset - c.mean_offset)), 0
  )) AS BIGINT) AS bucket
FROM score_cells AS h
LEFT JOIN crowded_cells AS c ON c.group_id = h.group_id AND c.cell = h.cell
