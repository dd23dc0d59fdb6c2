-- influence_values: one row per group, threshold and kind (its positives, its negatives, negatives to the next): number, squares, influence.
-- APS is the average precision score. Predictions of a kind are those of a class at a threshold, or negatives from there to the next.
-- Influence is the derivative of a metric with respect to the weight of a prediction.
--     of AUC, a positive: (V10 - AUC) / P, V10 the share of negatives below it; a negative: (V01 - AUC) / N, V01 the share of positives
--     above it
--     of APS, a positive: (precision - APS) / P + sum of p F / (T + F)^2 / P; a negative: - sum of p T / (T + F)^2 / P, over the
--     thresholds not above it, which have p positives at them, T positives and F negatives at and above them
-- $tie_credit: number from 0 to 1, default 0.5: credit of a positive and a negative of equal scores.
-- Source: DeLong, DeLong & Clarke-Pearson 1988; of APS its derivative with respect to the weight of a prediction.
-- Grain: group_id, has_threshold, threshold, segment_part
SELECT
  segment_metrics.group_id,
  has_threshold, -- 0 for what is above the highest, else 1
  threshold, -- score of a positive; 0 for what is above the highest
  segment_parts.segment_part, -- 0 positives, 1 negatives at it, 2 negatives below it
  CASE segment_parts.segment_part WHEN 0 THEN 1 ELSE 0 END AS label,
  CASE segment_parts.segment_part
    WHEN 0 THEN segment_metrics.positives
    WHEN 1 THEN segment_metrics.negatives
    ELSE segment_metrics.negatives_between
  END AS weight, -- of these predictions
  CASE segment_parts.segment_part
    WHEN 0 THEN segment_metrics.positive_rows
    WHEN 1 THEN segment_metrics.negative_rows
    ELSE segment_metrics.negative_rows_between
  END AS num_units, -- number of predictions of this kind
  CASE segment_parts.segment_part
    WHEN 0 THEN segment_metrics.positive_squares
    WHEN 1 THEN segment_metrics.negative_squares
    ELSE segment_metrics.negative_squares_between
  END AS weight_squares, -- sum of their squared weights
  CASE segment_parts.segment_part
    WHEN 0
      THEN ((negatives_below + $tie_credit * negatives) / NULLIF(total_negatives, 0) - group_areas.auc) / NULLIF(total_positives, 0)
    WHEN 1
      THEN ((positives_above + $tie_credit * positives) / NULLIF(total_positives, 0) - group_areas.auc) / NULLIF(total_negatives, 0)
    ELSE ((positives_above + positives) / NULLIF(total_positives, 0) - group_areas.auc) / NULLIF(total_negatives, 0)
  END AS auc_influence, -- (share of other class in order with it - AUC) / class size
  CASE segment_parts.segment_part
    WHEN 0 THEN (precision_at_threshold - aps) / NULLIF(total_positives, 0) + precision_gain
    WHEN 1 THEN -precision_loss
    ELSE precision_loss_here - precision_loss
  END AS aps_influence -- derivative of APS by the weight of a prediction
FROM (
  -- one row per group and threshold
  SELECT
    precision_steps.*,
    COALESCE(SUM(positive_share * precision_at_threshold) OVER (PARTITION BY group_id), 0) AS aps, -- subtracted, so that influences sum to 0
    SUM(precision_gain_here) OVER (
      PARTITION BY group_id ORDER BY has_threshold DESC, threshold ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS precision_gain, -- gain of APS by one more positive, over lower thresholds too
    SUM(precision_loss_here) OVER (
      PARTITION BY group_id ORDER BY has_threshold DESC, threshold ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS precision_loss -- loss of APS by one more negative, over lower thresholds too
  FROM (
    -- one row per group and threshold
    SELECT
      threshold_weights.*,
      positives / NULLIF(total_positives, 0) AS positive_share, -- share of the positives that are at the threshold
      COALESCE((positives_above + positives) / NULLIF(weight_at_or_above, 0), CAST(0 AS DOUBLE)) AS precision_at_threshold, -- T / (T + F), T positives and F negatives at or above
      CASE
        WHEN weight_at_or_above > 0
          THEN positives / NULLIF(total_positives, 0)
            * ((negatives_above + negatives) / NULLIF(weight_at_or_above, 0)) / NULLIF(weight_at_or_above, 0)
        ELSE CAST(0 AS DOUBLE)
      END AS precision_gain_here, -- p F / (T + F)^2 / P: gain of APS here by one more positive
      CASE
        WHEN weight_at_or_above > 0
          THEN positives / NULLIF(total_positives, 0)
            * ((positives_above + positives) / NULLIF(weight_at_or_above, 0)) / NULLIF(weight_at_or_above, 0)
        ELSE CAST(0 AS DOUBLE)
      END AS precision_loss_here -- p T / (T + F)^2 / P: loss of APS here by one more negative
    FROM (
      -- one row per group and threshold
      SELECT
        threshold_segments.*,
        positives_above + positives + negatives_above + negatives AS weight_at_or_above
      FROM threshold_segments
    ) AS threshold_weights
  ) AS precision_steps
) AS segment_metrics
CROSS JOIN segment_parts
LEFT JOIN group_areas ON group_areas.group_id = segment_metrics.group_id
