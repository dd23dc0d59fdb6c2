-- sqlrank 0.1.0 for Snowflake: AUC, LogLoss, one row per CAMPAIGN and DAY
-- reads: shop.ads.impressions (predictions)
-- plan: score_order=rank; alternative: score_order=buckets, if a single group has more rows than one worker can sort
-- made by: sqlrank sql AUC LogLoss --predictions shop.ads.impressions --column label=click --column score=p_click --by campaign --by day --dialect snowflake
WITH predictions AS (
  -- One row per prediction. (shop.ads.impressions)
  SELECT
    "CAMPAIGN", "DAY",
    CAST("P_CLICK" AS DOUBLE) + 0 AS score, CAST("CLICK" AS DOUBLE) + 0 AS label
  FROM shop.ads.impressions
), group_sizes AS (
  -- One row per CAMPAIGN and DAY. (group_sizes.sql)
  SELECT "CAMPAIGN", "DAY", COUNT(*) AS total_rows
  FROM predictions
  GROUP BY "CAMPAIGN", "DAY"
), prediction_ranks AS (
  -- One row per prediction.
  SELECT
    "CAMPAIGN", "DAY", label, score,
    RANK() OVER (PARTITION BY "CAMPAIGN", "DAY" ORDER BY score DESC) AS rank,
    CUME_DIST() OVER (PARTITION BY "CAMPAIGN", "DAY" ORDER BY score DESC) AS share_at_or_above
  FROM predictions
), positive_ranks AS (
  -- One row per CAMPAIGN, DAY and distinct score of a positive.
  SELECT
    "CAMPAIGN", "DAY", score,
    COUNT(*) AS positives,
    MAX(rank) - 1 AS rows_above,  -- predictions of higher scores
    MAX(share_at_or_above) AS share_at_or_above
  FROM prediction_ranks
  WHERE label = 1
  GROUP BY "CAMPAIGN", "DAY", score
), rank_counts AS (
  -- One row per CAMPAIGN, DAY and distinct score of a positive, with the counts of rows down to it.
  SELECT
    positive_ranks."CAMPAIGN", positive_ranks."DAY", positive_ranks.positives,
    positive_ranks.rows_above, group_sizes.total_rows,
    -- a whole number again, from the share
    FLOOR(positive_ranks.share_at_or_above * group_sizes.total_rows + 0.5) AS rows_at_or_above,
    SUM(positive_ranks.positives) OVER (
      PARTITION BY positive_ranks."CAMPAIGN", positive_ranks."DAY"
      ORDER BY positive_ranks.score DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS positives_at_or_above,
    SUM(positive_ranks.positives) OVER (
      PARTITION BY positive_ranks."CAMPAIGN", positive_ranks."DAY"
    ) AS total_positives
  FROM positive_ranks
  INNER JOIN group_sizes
    ON group_sizes."CAMPAIGN" IS NOT DISTINCT FROM positive_ranks."CAMPAIGN"
    AND group_sizes."DAY" IS NOT DISTINCT FROM positive_ranks."DAY"
), positive_thresholds AS (
  -- One row per CAMPAIGN, DAY and distinct score of a positive. (positive_thresholds/by_rank.sql)
  SELECT
    "CAMPAIGN", "DAY", total_positives,
    positives,  -- positives of this score
    rows_at_or_above - rows_above - positives AS negatives,  -- negatives of this score
    -- rows less positives, both below
    total_rows - rows_at_or_above - total_positives + positives_at_or_above AS negatives_below,
    total_rows - total_positives AS total_negatives
  FROM rank_counts
), positive_thresholds_metrics AS (
  -- One row per CAMPAIGN and DAY with a positive.
  SELECT
    "CAMPAIGN", "DAY",
    -- AUC: area under the ROC curve, the probability that a positive is scored above a negative; a
    -- tie counts half.
    SUM(
      CAST(positives AS DOUBLE) / total_positives
      * ((negatives_below + 0.5 * negatives) / NULLIF(total_negatives, 0))
    ) AS auc
  FROM positive_thresholds
  GROUP BY "CAMPAIGN", "DAY"
), predictions_metrics AS (
  -- One row per CAMPAIGN and DAY.
  SELECT
    "CAMPAIGN", "DAY",
    -- LogLoss: mean negative logarithm of the probability given to the label: score for 1, 1 -
    -- score for 0.
    -SUM(LN(CASE
      WHEN ABS(score + (label - 1)) <= CAST('2.220446049250313e-16' AS DOUBLE)
      THEN CAST('2.220446049250313e-16' AS DOUBLE)
      WHEN ABS(score + (label - 1)) >= 1 - CAST('2.220446049250313e-16' AS DOUBLE)
      THEN 1 - CAST('2.220446049250313e-16' AS DOUBLE)
      ELSE ABS(score + (label - 1))
    END)) / CAST(COUNT(*) AS DOUBLE) AS log_loss
  FROM predictions
  GROUP BY "CAMPAIGN", "DAY"
)
SELECT
  predictions_metrics."CAMPAIGN", predictions_metrics."DAY", positive_thresholds_metrics.auc,
  predictions_metrics.log_loss
FROM predictions_metrics
LEFT JOIN positive_thresholds_metrics
  ON positive_thresholds_metrics."CAMPAIGN" IS NOT DISTINCT FROM predictions_metrics."CAMPAIGN"
  AND positive_thresholds_metrics."DAY" IS NOT DISTINCT FROM predictions_metrics."DAY"
ORDER BY predictions_metrics."CAMPAIGN" NULLS FIRST, predictions_metrics."DAY" NULLS FIRST;
