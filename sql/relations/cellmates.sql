-- cellmates: one row per distinct score in a cell that a positive shares with another prediction, with what stands before it,
-- as for those of queued that are alone.
-- whole(): default rows: how many parts a weight is.
-- Costly: scores of such cells are put in order.
SELECT
  group_id,
  score,
  packed,
  positives,
  squares,
  negatives,
  positives_before + positives_under AS positives_before,
  all_before - positives_before - cell_negatives + negatives_under AS negatives_before
FROM (
  SELECT
    group_id,
    score,
    packed,
    positives,
    squares,
    negatives,
    all_before,
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
      SUM(CASE WHEN p.label = 1 THEN whole(p.weight) ELSE 0 END) AS positives,
      SUM(CASE WHEN p.label = 1 THEN p.weight * p.weight ELSE 0 END) AS squares,
      SUM(CASE WHEN p.label = 1 THEN 0 ELSE whole(p.weight) END) AS negatives,
      MIN(c.all_before) AS all_before,
      MIN(c.positives_before) AS positives_before
    FROM (
      SELECT
        group_id,
        label,
        score,
        weight,
        first_key + cell(height, last_cell) AS cell
      FROM (
        SELECT
          g.group_id,
          g.label,
          g.score,
          g.weight,
          (root(g.score) - a.low) * a.scale AS height,
          a.last_cell,
          (s.stratum - 1) * a.keys AS first_key
        FROM predictions AS g
        JOIN strata AS s ON s.group_id = g.group_id
        CROSS JOIN axis AS a
      ) AS high
    ) AS p
    JOIN (
      SELECT
        group_id,
        packed,
        MIN(all_before) AS all_before,
        MIN(positives_before) AS positives_before
      FROM queued
      WHERE is_alone = 0
      GROUP BY group_id, packed
    ) AS c ON c.group_id = p.group_id AND c.packed = p.cell + 1
    GROUP BY p.group_id, c.packed, p.score
  ) AS counted
) AS summed
