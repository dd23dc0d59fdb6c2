-- segments: one row per distinct score of a positive, highest first, with how many of each class stand at it, above and below it,
-- and one of place 0 for what stands above them all; next_negatives are below it and above the next one. Where every prediction
-- weighs 1, its thresholds say all of it: what is between two is what one has below it and the next has not.
SELECT
  group_id,
  1 AS place,
  score AS threshold,
  positives,
  squares,
  positives AS positive_rows,
  negatives,
  negatives AS negative_squares,
  negatives AS negative_rows,
  next_negatives,
  next_negatives AS next_squares,
  next_negatives AS next_rows,
  positives_above,
  negatives_above,
  positives_below,
  negatives_below,
  all_positives,
  all_negatives,
  all_rows
FROM (
  SELECT
    group_id,
    score,
    CAST(positives AS DOUBLE) AS positives,
    CAST(squares AS DOUBLE) AS squares,
    CAST(negatives AS DOUBLE) AS negatives,
    CAST(negatives_below AS DOUBLE) - COALESCE(LEAD(CAST(negatives_below + negatives AS DOUBLE)) OVER (
      PARTITION BY group_id ORDER BY score DESC
    ), 0) AS next_negatives,
    CAST(positives_above AS DOUBLE) AS positives_above,
    CAST(negatives_above AS DOUBLE) AS negatives_above,
    CAST(positives_below AS DOUBLE) AS positives_below,
    CAST(negatives_below AS DOUBLE) AS negatives_below,
    CAST(all_positives AS DOUBLE) AS all_positives,
    CAST(all_negatives AS DOUBLE) AS all_negatives,
    all_rows
  FROM thresholds
) AS between_two
UNION ALL
SELECT
  n.group_id,
  0 AS place,
  CAST(0 AS DOUBLE) AS threshold,
  CAST(0 AS DOUBLE) AS positives,
  CAST(0 AS DOUBLE) AS squares,
  CAST(0 AS DOUBLE) AS positive_rows,
  CAST(0 AS DOUBLE) AS negatives,
  CAST(0 AS DOUBLE) AS negative_squares,
  CAST(0 AS DOUBLE) AS negative_rows,
  COALESCE(t.highest, CAST(n.all_rows AS DOUBLE)) AS next_negatives,
  COALESCE(t.highest, CAST(n.all_rows AS DOUBLE)) AS next_squares,
  COALESCE(t.highest, CAST(n.all_rows AS DOUBLE)) AS next_rows,
  CAST(0 AS DOUBLE) AS positives_above,
  CAST(0 AS DOUBLE) AS negatives_above,
  COALESCE(t.all_positives, 0) AS positives_below,
  COALESCE(t.all_negatives, CAST(n.all_rows AS DOUBLE)) AS negatives_below,
  COALESCE(t.all_positives, 0) AS all_positives,
  COALESCE(t.all_negatives, CAST(n.all_rows AS DOUBLE)) AS all_negatives,
  n.all_rows
FROM totals AS n
LEFT JOIN (
  SELECT
    group_id,
    CAST(MIN(negatives_above) AS DOUBLE) AS highest,
    CAST(MAX(all_positives) AS DOUBLE) AS all_positives,
    CAST(MAX(all_negatives) AS DOUBLE) AS all_negatives
  FROM thresholds
  GROUP BY group_id
) AS t ON t.group_id = n.group_id
