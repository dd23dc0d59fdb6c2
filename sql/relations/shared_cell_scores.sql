-- shared_cell_scores: one row per distinct score of a cell that a positive shares with other predictions, with the class weights sorted before it.
-- Within a cell, scores are sorted and cumulated on their own.
-- exact_weight(): default rows: weight as a number of units.
-- Materialize: the scores of such cells are sorted.
-- Grain: group_id, score
SELECT
  group_id,
  score,
  sort_key,
  positives,
  positive_squares,
  negatives,
  positives_before + positives_at_lower_scores AS positives_before,
  weight_before - positives_before - cell_negatives + negatives_at_lower_scores AS negatives_before
FROM (
  SELECT
    group_id,
    score,
    sort_key,
    positives,
    positive_squares,
    negatives,
    weight_before,
    positives_before,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id, sort_key ORDER BY score DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0) AS positives_at_lower_scores,
    COALESCE(SUM(negatives) OVER (
      PARTITION BY group_id, sort_key ORDER BY score DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0) AS negatives_at_lower_scores,
    SUM(negatives) OVER (PARTITION BY group_id, sort_key) AS cell_negatives
  FROM (
    SELECT
      p.group_id,
      p.score,
      c.sort_key,
      SUM(CASE WHEN p.label = 1 THEN exact_weight(p.weight) ELSE 0 END) AS positives,
      SUM(CASE WHEN p.label = 1 THEN p.weight * p.weight ELSE 0 END) AS positive_squares,
      SUM(CASE WHEN p.label = 1 THEN 0 ELSE exact_weight(p.weight) END) AS negatives,
      MIN(c.weight_before) AS weight_before,
      MIN(c.positives_before) AS positives_before
    FROM (
      SELECT
        group_id,
        label,
        score,
        weight,
        first_key + score_cell(height, max_cell) AS cell
      FROM (
        SELECT
          g.group_id,
          g.label,
          g.score,
          g.weight,
          (signed_fourth_root(g.score) - a.min_root) * a.cells_per_unit AS height,
          a.max_cell,
          (s.group_number - 1) * a.keys_per_group AS first_key
        FROM predictions AS g
        JOIN numbered_groups AS s ON s.group_id = g.group_id
        CROSS JOIN cell_scale AS a
      ) AS high
    ) AS p
    JOIN (
      SELECT
        group_id,
        sort_key,
        MIN(weight_before) AS weight_before,
        MIN(positives_before) AS positives_before
      FROM sorted_positives
      WHERE is_unique_cell = 0
      GROUP BY group_id, sort_key
    ) AS c ON c.group_id = p.group_id AND c.sort_key = p.cell + 1
    GROUP BY p.group_id, c.sort_key, p.score
  ) AS counted
) AS summed
