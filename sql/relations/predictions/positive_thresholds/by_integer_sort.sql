-- positive_thresholds: one row per group and distinct score of a positive: class weights at, above and below it, and totals, from an integer sort.
-- Predictions are sorted by an integer made of the group number, the cell of the score, and the label. Scores that share a cell are sorted
-- on their own.
-- exact_weight(): default rows: weight as a number of units.
-- Materialize: all predictions are sorted.
-- Nonzero: cell_scale.keys_per_group.
-- Grain: group_id, score
SELECT
  numbered_groups.group_id, resolved_scores.score,
  CAST(resolved_scores.positives AS DOUBLE) * numbered_groups.unit_weight AS positives, -- weight of the positives of this score
  resolved_scores.positive_squares, -- sum of their squared weights
  CAST(resolved_scores.negatives AS DOUBLE) * numbered_groups.unit_weight AS negatives, -- weight of the negatives of this score
  CAST(
    numbered_groups.positive_units_before + numbered_groups.positive_units
    - resolved_scores.positives_before - resolved_scores.positives AS DOUBLE
  ) * numbered_groups.unit_weight AS positives_above,
  CAST(
    numbered_groups.negative_units_before + numbered_groups.negative_units
    - resolved_scores.negatives_before - resolved_scores.negatives AS DOUBLE
  ) * numbered_groups.unit_weight AS negatives_above,
  CAST(
    resolved_scores.positives_before - numbered_groups.positive_units_before AS DOUBLE
  ) * numbered_groups.unit_weight AS positives_below,
  CAST(
    resolved_scores.negatives_before - numbered_groups.negative_units_before AS DOUBLE
  ) * numbered_groups.unit_weight AS negatives_below,
  numbered_groups.total_positives, numbered_groups.total_negatives,
  numbered_groups.total_rows -- predictions of the group, of weight 0 too
FROM (
  -- one row per group and distinct score of a positive
  SELECT
    numbered_groups.group_id, sorted_positives.score, sorted_positives.positives,
    sorted_positives.positive_squares,
    exact_weight(0) AS negatives,
    sorted_positives.positives_before,
    sorted_positives.weight_before - sorted_positives.positives_before AS negatives_before
  FROM sorted_positives
  LEFT JOIN cell_scale ON 1 = 1
  LEFT JOIN numbered_groups
    ON numbered_groups.group_number = FLOOR(sorted_positives.sort_key / cell_scale.keys_per_group) + 1
  WHERE sorted_positives.is_unique_cell = 1 AND sorted_positives.positives > 0
  UNION ALL
  SELECT
    group_id, score, positives, positive_squares, negatives, positives_before, negatives_before
  FROM shared_cell_scores
  WHERE positives > 0
) AS resolved_scores
JOIN numbered_groups ON numbered_groups.group_id = resolved_scores.group_id
