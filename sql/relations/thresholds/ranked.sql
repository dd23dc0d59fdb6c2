-- thresholds: one row per distinct score of a positive, highest first, where every prediction weighs 1.
-- All predictions are ranked once; only the positives are kept, whose ranks say how many of each class stand above.
SELECT
  list_id,
  score,
  positives,
  positives AS squares,
  rows_upto - rows_above - positives AS negatives,
  positives_above,
  rows_above - positives_above AS negatives_above,
  all_positives,
  all_rows - all_positives AS all_negatives,
  all_rows
FROM (
  SELECT
    list_id,
    score,
    positives,
    rows_above,
    rows_upto,
    all_rows,
    SUM(positives) OVER (PARTITION BY list_id ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
      - positives AS positives_above,
    SUM(positives) OVER (PARTITION BY list_id) AS all_positives
  FROM (
    SELECT
      list_id,
      score,
      COUNT(*) AS positives,
      MAX(rows_above) AS rows_above,
      MAX(rows_upto) AS rows_upto,
      MAX(all_rows) AS all_rows
    FROM (
      SELECT
        list_id,
        label,
        score,
        RANK() OVER (PARTITION BY list_id ORDER BY score DESC) - 1 AS rows_above,
        COUNT(*) OVER (PARTITION BY list_id ORDER BY score DESC) AS rows_upto,
        COUNT(*) OVER (PARTITION BY list_id) AS all_rows
      FROM predictions
    ) AS ranked
    WHERE label = 1
    GROUP BY list_id, score
  ) AS tied
) AS counted
