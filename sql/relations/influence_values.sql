-- influence_values: one row per threshold segment and kind of prediction in it, with the influence of such a prediction on AUC and APS.
-- Influence is the derivative of a metric with respect to the weight of a prediction.
--     of AUC, a positive: (V10 - AUC) / P, V10 the share of negatives below it; a negative: (V01 - AUC) / N, V01 the share of positives above it
--     of APS, a positive: (precision - APS) / P + sum of p F / (T + F)^2 / P; a negative: - sum of p T / (T + F)^2 / P, over the
--     thresholds not above it, which have p positives at them, T positives and F negatives at and above them
-- $tie_credit: number from 0 to 1, default 0.5: credit of a positive and a negative of equal scores.
-- Source: DeLong, DeLong & Clarke-Pearson 1988; of APS its derivative with respect to the weight of a prediction.
-- Grain: group_id, has_threshold, threshold, segment_part
SELECT
  s.group_id,
  s.has_threshold,
  s.threshold,
  p.segment_part,
  CASE WHEN p.segment_part = 0 THEN 1 ELSE 0 END AS label,
  CASE WHEN p.segment_part = 0 THEN s.positives WHEN p.segment_part = 1 THEN s.negatives ELSE s.negatives_between END AS weight,
  CASE WHEN p.segment_part = 0 THEN s.positive_squares WHEN p.segment_part = 1 THEN s.negative_squares ELSE s.negative_squares_between END AS weight_squares,
  CASE WHEN p.segment_part = 0 THEN s.positive_rows WHEN p.segment_part = 1 THEN s.negative_rows ELSE s.negative_rows_between END AS num_units,
  CASE
    WHEN p.segment_part = 0
      THEN ((s.negatives_below + $tie_credit * s.negatives) / NULLIF(s.total_negatives, 0) - s.auc) / NULLIF(s.total_positives, 0)
    WHEN p.segment_part = 1
      THEN ((s.positives_above + $tie_credit * s.positives) / NULLIF(s.total_positives, 0) - s.auc) / NULLIF(s.total_negatives, 0)
    ELSE ((s.positives_above + s.positives) / NULLIF(s.total_positives, 0) - s.auc) / NULLIF(s.total_negatives, 0)
  END AS auc_influence,
  CASE
    WHEN p.segment_part = 0 THEN (s.precision_at_threshold - s.aps) / NULLIF(s.total_positives, 0) + s.precision_gain
    WHEN p.segment_part = 1 THEN -s.precision_loss
    ELSE s.lowered_here - s.precision_loss
  END AS aps_influence
FROM (
  SELECT
    group_id,
    has_threshold,
    threshold,
    positives,
    positive_squares,
    positive_rows,
    negatives,
    negative_squares,
    negative_rows,
    negatives_between,
    negative_squares_between,
    negative_rows_between,
    positives_above,
    negatives_below,
    total_positives,
    total_negatives,
    precision_at_threshold,
    lowered_here,
    COALESCE(SUM(positive_share * ((negatives_below + $tie_credit * negatives) / NULLIF(total_negatives, 0))) OVER (PARTITION BY group_id), 0) AS auc,
    COALESCE(SUM(positive_share * precision_at_threshold) OVER (PARTITION BY group_id), 0) AS aps,
    SUM(raised_here) OVER (PARTITION BY group_id) - COALESCE(SUM(raised_here) OVER (
      PARTITION BY group_id ORDER BY has_threshold, threshold DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS precision_gain,
    SUM(lowered_here) OVER (PARTITION BY group_id) - COALESCE(SUM(lowered_here) OVER (
      PARTITION BY group_id ORDER BY has_threshold, threshold DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS precision_loss
  FROM (
    SELECT
      group_id,
      has_threshold,
      threshold,
      positives,
      positive_squares,
      positive_rows,
      negatives,
      negative_squares,
      negative_rows,
      negatives_between,
      negative_squares_between,
      negative_rows_between,
      positives_above,
      negatives_below,
      total_positives,
      total_negatives,
      positives / NULLIF(total_positives, 0) AS positive_share,
      CASE WHEN weight_at_or_above > 0 THEN (positives_above + positives) / NULLIF(weight_at_or_above, 0) ELSE CAST(0 AS DOUBLE) END AS precision_at_threshold,
      CASE WHEN weight_at_or_above > 0 THEN positives / NULLIF(total_positives, 0) * ((negatives_above + negatives) / NULLIF(weight_at_or_above, 0)) / NULLIF(weight_at_or_above, 0) ELSE CAST(0 AS DOUBLE) END AS raised_here,
      CASE WHEN weight_at_or_above > 0 THEN positives / NULLIF(total_positives, 0) * ((positives_above + positives) / NULLIF(weight_at_or_above, 0)) / NULLIF(weight_at_or_above, 0) ELSE CAST(0 AS DOUBLE) END AS lowered_here
    FROM (
      SELECT
        group_id,
        has_threshold,
        threshold,
        positives,
        positive_squares,
        positive_rows,
        negatives,
        negative_squares,
        negative_rows,
        negatives_between,
        negative_squares_between,
        negative_rows_between,
        positives_above,
        negatives_above,
        negatives_below,
        total_positives,
        total_negatives,
        positives_above + positives + negatives_above + negatives AS weight_at_or_above
      FROM threshold_segments
    ) AS u
  ) AS h
) AS s
CROSS JOIN segment_parts AS p
