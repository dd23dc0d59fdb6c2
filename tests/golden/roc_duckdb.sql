-- sqlrank 0.1.0: ROC
-- plan: order=ranked
-- for another: order=bucketed, if one group alone is more than a worker holds
WITH predictions AS NOT MATERIALIZED (
  /* predictions: what was predicted: a row per example */
  SELECT
    CAST(score AS DOUBLE) AS score,
    CAST(label AS DOUBLE) AS label,
    CAST(1 AS DOUBLE) AS weight
  FROM shop.ads.impressions
), tied AS (
  /* relations/tied.sql: one row per distinct score with the weight of each class; squares is the sum of
   the squared weights of positives. */
  SELECT
    score,
    SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
    SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives
  FROM predictions
  GROUP BY score
), scores AS (
  /* relations/scores/sorted.sql: one row per distinct score, highest first, with the weight of each
   class at that score, above and below it. */
  SELECT
    score, positives, negatives,
    COALESCE(SUM(positives) OVER (ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS positives_above,
    COALESCE(SUM(negatives) OVER (ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS negatives_above,
    SUM(positives) OVER () AS all_positives,
    SUM(negatives) OVER () AS all_negatives
  FROM tied
), pieces AS (
  /* relations/pieces/length.sql: one row per distinct score with the weights of both classes from that
   score up, and the piece of the curve that it falls in. */
  SELECT
    score,
    positives_above + positives AS tp,
    negatives_above + negatives AS fp,
    all_positives, all_negatives,
    CAST(FLOOR(
      (1000 - 2) / 4 * (
        COALESCE((positives_above + positives) / NULLIF(all_positives, 0), 0)
        + COALESCE((negatives_above + negatives) / NULLIF(all_negatives, 0), 0)
      )
    ) AS BIGINT) AS piece
  FROM scores
), points AS (
  /* relations/points.sql: one row per distinct score that a curve keeps, highest first: the first and
   the last of each piece. */
  SELECT
    ROW_NUMBER() OVER (ORDER BY score DESC) AS point,
    score, tp, fp, all_positives, all_negatives
  FROM (
    SELECT
      score, tp, fp, all_positives, all_negatives,
      ROW_NUMBER() OVER (PARTITION BY piece ORDER BY score DESC) AS from_first,
      ROW_NUMBER() OVER (PARTITION BY piece ORDER BY score) AS from_last
    FROM pieces
  ) AS numbered
  WHERE from_first = 1 OR from_last = 1
), totals AS (
  /* relations/totals.sql: one row per group: how many predictions it has. */
  SELECT
    COUNT(*) AS all_rows
  FROM predictions
), roc AS (
  /* curves/roc.sql: true positive rate over false positive rate, from (0, 0); straight lines between its
   points enclose AUC. */
  SELECT
    point,
    score AS threshold,
    fp / NULLIF(all_negatives, 0) AS fpr,
    tp / NULLIF(all_positives, 0) AS tpr
  FROM points
  UNION ALL
  SELECT
    0 AS point,
    CAST(NULL AS DOUBLE) AS threshold,
    CAST(0 AS DOUBLE) AS fpr,
    CAST(0 AS DOUBLE) AS tpr
  FROM totals
)
SELECT
  CAST(roc.point AS BIGINT) AS point,
  roc.threshold AS threshold,
  roc.fpr AS fpr,
  roc.tpr AS tpr
FROM roc
ORDER BY point NULLS FIRST;
