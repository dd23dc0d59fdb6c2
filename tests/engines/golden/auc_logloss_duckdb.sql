-- sqlrank 0.1.0 for DuckDB: AUC, LogLoss, one row per campaign and day
-- reads: shop.ads.impressions (predictions)
-- plan: score_order=rank; alternative: score_order=buckets, if a single group has more rows than
--   one worker can sort
-- predictions: weight is taken to be 1, since the table cannot be looked at. Map predictions.weight
--   to a column to read it
-- made by: sqlrank sql AUC LogLoss --predictions shop.ads.impressions --column label=click --column score=p_click --by campaign --by day
WITH predictions AS NOT MATERIALIZED (
  -- One row per prediction. (shop.ads.impressions)
  SELECT "campaign", "day", CAST("p_click" AS DOUBLE) AS score, CAST("click" AS DOUBLE) AS label
  FROM shop.ads.impressions
), predictions_metrics AS (
  -- One row per campaign and day.
  SELECT
    "campaign", "day",
    COUNT(*) AS total_rows,
    -- LogLoss: mean negative logarithm of the probability given to the label: score for 1, 1 -
    -- score for 0.
    -SUM(LN(CASE
      WHEN ABS(score + (label - 1)) <= 2.220446049250313e-16 THEN 2.220446049250313e-16
      WHEN ABS(score + (label - 1)) >= 1 - 2.220446049250313e-16 THEN 1 - 2.220446049250313e-16
      ELSE ABS(score + (label - 1))
    END)) / COUNT(*) AS log_loss
  FROM predictions
  GROUP BY "campaign", "day"
), prediction_ranks AS (
  -- One row per prediction.
  SELECT
    "campaign", "day", score, label,
    RANK() OVER (PARTITION BY "campaign", "day" ORDER BY score DESC) AS rank,
    CUME_DIST() OVER (PARTITION BY "campaign", "day" ORDER BY score DESC) AS share_at_or_above
  FROM predictions
), positive_ranks AS (
  -- One row per campaign, day and distinct score of a positive.
  SELECT
    "campaign", "day", score,
    COUNT(*) AS positives,
    MAX(rank) - 1 AS rows_above,  -- predictions of higher scores
    MAX(share_at_or_above) AS share_at_or_above
  FROM prediction_ranks
  WHERE label = 1
  GROUP BY "campaign", "day", score
), rank_counts AS (
  -- One row per campaign, day and distinct score of a positive, with the counts of rows down to it.
  SELECT
    positive_ranks."campaign", positive_ranks."day", positive_ranks.positives,
    positive_ranks.rows_above, predictions_metrics.total_rows,
    FLOOR(
      positive_ranks.share_at_or_above * predictions_metrics.total_rows + 0.5
    ) AS rows_at_or_above,  -- a whole number again, from the share
    SUM(positive_ranks.positives) OVER (
      PARTITION BY positive_ranks."campaign", positive_ranks."day"
      ORDER BY positive_ranks.score DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS positives_at_or_above,
    SUM(positive_ranks.positives) OVER (
      PARTITION BY positive_ranks."campaign", positive_ranks."day"
    ) AS total_positives
  FROM positive_ranks
  INNER JOIN predictions_metrics
    ON predictions_metrics."campaign" IS NOT DISTINCT FROM positive_ranks."campaign"
    AND predictions_metrics."day" IS NOT DISTINCT FROM positive_ranks."day"
), positive_thresholds AS (
  -- One row per campaign, day and distinct score of a positive. (positive_thresholds/by_rank.sql)
  SELECT
    "campaign", "day",
    positives,  -- positives of this score
    rows_at_or_above - rows_above - positives AS negatives,  -- negatives of this score
    rows_above - positives_at_or_above + positives AS negatives_above,
    -- rows less positives, both below
    total_rows - rows_at_or_above - total_positives + positives_at_or_above AS negatives_below
  FROM rank_counts
), positive_thresholds_metrics AS (
  -- One row per campaign and day with a positive.
  SELECT
    "campaign", "day",
    -- AUC: area under the ROC curve, the probability that a positive is scored above a negative; a
    -- tie counts half.
    SUM(positives * (negatives_below + 0.5 * negatives)) / NULLIF(
      SUM(positives * (negatives_below + 0.5 * negatives))
      + SUM(positives * (negatives_above + 0.5 * negatives)),
      0
    ) AS auc
  FROM positive_thresholds
  GROUP BY "campaign", "day"
)
SELECT
  predictions_metrics."campaign", predictions_metrics."day", positive_thresholds_metrics.auc,
  predictions_metrics.log_loss
FROM predictions_metrics
LEFT JOIN positive_thresholds_metrics
  ON positive_thresholds_metrics."campaign" IS NOT DISTINCT FROM predictions_metrics."campaign"
  AND positive_thresholds_metrics."day" IS NOT DISTINCT FROM predictions_metrics."day"
ORDER BY predictions_metrics."campaign" NULLS FIRST, predictions_metrics."day" NULLS FIRST;
