-- positive_thresholds: one row per group and distinct score of a positive, with the weights of both classes at, above and below it.
-- Predictions are sorted by an integer made of the group number, the cell of the score, and the label. Scores that share a cell are
-- sorted on their own.
-- exact_weight(): default rows: weight as a number of units.
-- Materialize: all predictions are sorted.
-- Grain: group_id, score
SELECT
  s.group_id,
  t.score,
  CAST(t.positives AS DOUBLE) * s.unit_weight AS positives,
  t.positive_squares,
  CAST(t.negatives AS DOUBLE) * s.unit_weight AS negatives,
  CAST(s.positive_units_before + s.positive_units - t.positives_before - t.positives AS DOUBLE) * s.unit_weight AS positives_above,
  CAST(s.negative_units_before + s.negative_units - t.negatives_before - t.negatives AS DOUBLE) * s.unit_weight AS negatives_above,
  CAST(t.positives_before - s.positive_units_before AS DOUBLE) * s.unit_weight AS positives_below,
  CAST(t.negatives_before - s.negative_units_before AS DOUBLE) * s.unit_weight AS negatives_below,
  s.total_positives,
  s.total_negatives,
  s.total_rows
FROM (
  SELECT
    group_id,
    score,
    positives,
    positive_squares,
    exact_weight(0) AS negatives,
    positives_before,
    weight_before - positives_before AS negatives_before
  FROM sorted_positives
  WHERE is_unique_cell = 1 AND positives > 0
  UNION ALL
  SELECT
    group_id,
    score,
    positives,
    positive_squares,
    negatives,
    positives_before,
    negatives_before
  FROM shared_cell_scores
  WHERE positives > 0
) AS t
JOIN numbered_groups AS s ON s.group_id = t.group_id
