-- shared_cell_scores: one row per group and distinct score, in cells of several predictions with a positive: class weights at and below it.
-- Weights are whole numbers of units.
-- Within a cell, scores are sorted and cumulated on their own.
-- exact_weight(): default rows: weight as a number of units.
-- Materialize: the scores of such cells are sorted.
-- Grain: group_id, score
SELECT
  group_id, score,
  sort_key, -- key of the positives of the cell
  positives, -- units of the positives of this score
  positive_squares, -- sum of their squared weights
  negatives, -- units of the negatives of this score
  positives_before + positives_at_lower_scores AS positives_before, -- in units, of lower key or score
  weight_before - positives_before - cell_negatives + negatives_at_lower_scores AS negatives_before -- in units, of lower key or score
FROM (
  -- one row per group and distinct score in such a cell
  SELECT
    cell_scores.*,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id, sort_key ORDER BY score DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0) AS positives_at_lower_scores,
    COALESCE(SUM(negatives) OVER (
      PARTITION BY group_id, sort_key ORDER BY score DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0) AS negatives_at_lower_scores,
    SUM(negatives) OVER (PARTITION BY group_id, sort_key) AS cell_negatives
  FROM (
    -- one row per group and distinct score in such a cell
    SELECT
      prediction_cells.group_id, prediction_cells.score, shared_cells.sort_key,
      SUM(CASE WHEN prediction_cells.label = 1 THEN exact_weight(prediction_cells.weight) ELSE 0 END) AS positives,
      SUM(CASE WHEN prediction_cells.label = 1 THEN prediction_cells.weight * prediction_cells.weight ELSE 0 END) AS positive_squares,
      SUM(CASE WHEN prediction_cells.label = 1 THEN 0 ELSE exact_weight(prediction_cells.weight) END) AS negatives,
      MIN(shared_cells.weight_before) AS weight_before,
      MIN(shared_cells.positives_before) AS positives_before
    FROM prediction_cells
    JOIN (
      -- one row per cell of several predictions with a positive
      SELECT
        sort_key,
        MIN(weight_before) AS weight_before,
        MIN(positives_before) AS positives_before
      FROM sorted_positives
      WHERE is_unique_cell = 0
      GROUP BY sort_key
    ) AS shared_cells
      ON shared_cells.sort_key = prediction_cells.cell_key + 1
    GROUP BY prediction_cells.group_id, shared_cells.sort_key, prediction_cells.score
  ) AS cell_scores
) AS cell_cumulative_weights
