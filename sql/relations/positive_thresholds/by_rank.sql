-- positive_thresholds: one row per group and distinct score of a positive, with the numbers of both classes at, above and below it.
-- All weights must be 1. The predictions are ranked once, and the ranks of the positives give the numbers of each class above.
-- Materialize: all predictions are sorted.
-- Grain: group_id, score
SELECT
  group_id,
  score,
  positives,
  positives AS positive_squares,
  rows_at_or_above - rows_above - positives AS negatives,
  positives_at_or_above - positives AS positives_above,
  rows_above - positives_at_or_above + positives AS negatives_above,
  total_positives - positives_at_or_above AS positives_below,
  total_rows - rows_at_or_above - total_positives + positives_at_or_above AS negatives_below,
  total_positives,
  total_rows - total_positives AS total_negatives,
  total_rows
FROM (
  SELECT
    t.group_id,
    t.score,
    t.positives,
    t.rows_above,
    FLOOR(t.share_at_or_above * n.total_rows + 0.5) AS rows_at_or_above,
    n.total_rows,
    SUM(t.positives) OVER (
      PARTITION BY t.group_id ORDER BY t.score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS positives_at_or_above,
    SUM(t.positives) OVER (PARTITION BY t.group_id) AS total_positives
  FROM (
    SELECT
      group_id,
      score,
      COUNT(*) AS positives,
      MAX(rank) - 1 AS rows_above,
      MAX(share_at_or_above) AS share_at_or_above
    FROM (
      SELECT
        group_id,
        label,
        score,
        RANK() OVER (PARTITION BY group_id ORDER BY score DESC) AS rank,
        CUME_DIST() OVER (PARTITION BY group_id ORDER BY score DESC) AS share_at_or_above
      FROM predictions
    ) AS ranked
    WHERE label = 1
    GROUP BY group_id, score
  ) AS t
  JOIN group_sizes AS n ON n.group_id = t.group_id
) AS counted
