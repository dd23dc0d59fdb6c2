-- cellmates: one row per distinct score in a cell that a positive shares with another prediction, with what stands below it.
-- Costly: scores of such cells are put in order.
SELECT
  group_id,
  score,
  positives,
  negatives,
  positives_before + positives_under AS positives_below,
  rows_before - positives_before - cell_negatives + negatives_under AS negatives_below
FROM (
  SELECT
    group_id,
    score,
    positives,
    negatives,
    rows_before,
    positives_before,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id, packed ORDER BY score DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0) AS positives_under,
    COALESCE(SUM(negatives) OVER (
      PARTITION BY group_id, packed ORDER BY score DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0) AS negatives_under,
    SUM(negatives) OVER (PARTITION BY group_id, packed) AS cell_negatives
  FROM (
    SELECT
      p.group_id,
      p.score,
      c.packed,
      COUNT(CASE WHEN p.label = 1 THEN 1 END) AS positives,
      COUNT(CASE WHEN p.label = 1 THEN NULL ELSE 1 END) AS negatives,
      MIN(c.rows_before) AS rows_before,
      MIN(c.positives_before) AS positives_before
    FROM (
      SELECT
        group_id,
        label,
        score,
        cell(height) AS cell
      FROM (
        SELECT
          g.group_id,
          g.label,
          g.score,
          (root(g.score) - a.low) * a.scale AS height
        FROM predictions AS g
        CROSS JOIN axis AS a
      ) AS high
    ) AS p
    JOIN (
      SELECT
        group_id,
        packed,
        MIN(rows_before) AS rows_before,
        MIN(positives_before) AS positives_before
      FROM queued
      WHERE is_alone = 0
      GROUP BY group_id, packed
    ) AS c ON c.group_id = p.group_id AND c.packed = p.cell + 1
    GROUP BY p.group_id, c.packed, p.score
  ) AS counted
) AS summed
