-- thresholds: one row per distinct score of a positive, highest first, where every prediction weighs 1.
-- All predictions are ranked once; only the positives are kept, whose ranks say how many of each class stand above.
-- Costly: all predictions are put in order.
SELECT
  group_id,
  score,
  positives,
  positives AS squares,
  rows_upto - rows_above - positives AS negatives,
  positives_upto - positives AS positives_above,
  rows_above - positives_upto + positives AS negatives_above,
  all_positives - positives_upto AS positives_below,
  all_rows - rows_upto - all_positives + positives_upto AS negatives_below,
  all_positives,
  all_rows - all_positives AS all_negatives,
  all_rows
FROM (
  SELECT
    t.group_id,
    t.score,
    t.positives,
    t.rows_above,
    FLOOR(t.share_upto * n.all_rows + 0.5) AS rows_upto,
    n.all_rows,
    SUM(t.positives) OVER (
      PARTITION BY t.group_id ORDER BY t.score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS positives_upto,
    SUM(t.positives) OVER (PARTITION BY t.group_id) AS all_positives
  FROM (
    SELECT
      group_id,
      score,
      COUNT(*) AS positives,
      MAX(place) - 1 AS rows_above,
      MAX(share_upto) AS share_upto
    FROM (
      SELECT
        group_id,
        label,
        score,
        RANK() OVER (PARTITION BY group_id ORDER BY score DESC) AS place,
        CUME_DIST() OVER (PARTITION BY group_id ORDER BY score DESC) AS share_upto
      FROM predictions
    ) AS ranked
    WHERE label = 1
    GROUP BY group_id, score
  ) AS t
  JOIN totals AS n ON n.group_id = t.group_id
) AS counted
