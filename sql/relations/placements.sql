-- placements: one row per segment and part of it: how far a prediction there of weight 1 moves each metric, and how many there are.
--     of AUC, a positive: (V10 - AUC) / P, V10 the share of negatives below it; a negative: (V01 - AUC) / N, V01 that of positives above it
--     of APS, a positive: (precision - APS) / P + sum of p F / (T + F)^2 / P; a negative: - sum of p T / (T + F)^2 / P, over the
--     thresholds not above it, which have p positives at them, T positives and F negatives at and above them
-- $tie_credit: number from 0 to 1, default 0.5: what a tie of a positive and a negative counts.
-- Source: DeLong, DeLong & Clarke-Pearson 1988; of APS its derivative with respect to the weight of a prediction.
SELECT
  s.group_id,
  s.place,
  s.threshold,
  p.part,
  CASE WHEN p.part = 0 THEN 1 ELSE 0 END AS label,
  CASE WHEN p.part = 0 THEN s.positives WHEN p.part = 1 THEN s.negatives ELSE s.next_negatives END AS weight,
  CASE WHEN p.part = 0 THEN s.squares WHEN p.part = 1 THEN s.negative_squares ELSE s.next_squares END AS squares,
  CASE WHEN p.part = 0 THEN s.positive_rows WHEN p.part = 1 THEN s.negative_rows ELSE s.next_rows END AS alike,
  CASE
    WHEN p.part = 0
      THEN ((s.negatives_below + $tie_credit * s.negatives) / NULLIF(s.all_negatives, 0) - s.auc) / NULLIF(s.all_positives, 0)
    WHEN p.part = 1
      THEN ((s.positives_above + $tie_credit * s.positives) / NULLIF(s.all_positives, 0) - s.auc) / NULLIF(s.all_negatives, 0)
    ELSE ((s.positives_above + s.positives) / NULLIF(s.all_positives, 0) - s.auc) / NULLIF(s.all_negatives, 0)
  END AS auc_move,
  CASE
    WHEN p.part = 0 THEN (s.precision_here - s.aps) / NULLIF(s.all_positives, 0) + s.raised
    WHEN p.part = 1 THEN -s.lowered
    ELSE s.lowered_here - s.lowered
  END AS aps_move
FROM (
  SELECT
    group_id,
    place,
    threshold,
    positives,
    squares,
    positive_rows,
    negatives,
    negative_squares,
    negative_rows,
    next_negatives,
    next_squares,
    next_rows,
    positives_above,
    negatives_below,
    all_positives,
    all_negatives,
    precision_here,
    lowered_here,
    COALESCE(SUM(share_here * ((negatives_below + $tie_credit * negatives) / NULLIF(all_negatives, 0))) OVER (PARTITION BY group_id), 0) AS auc,
    COALESCE(SUM(share_here * precision_here) OVER (PARTITION BY group_id), 0) AS aps,
    SUM(raised_here) OVER (PARTITION BY group_id) - COALESCE(SUM(raised_here) OVER (
      PARTITION BY group_id ORDER BY place, threshold DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS raised,
    SUM(lowered_here) OVER (PARTITION BY group_id) - COALESCE(SUM(lowered_here) OVER (
      PARTITION BY group_id ORDER BY place, threshold DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS lowered
  FROM (
    SELECT
      group_id,
      place,
      threshold,
      positives,
      squares,
      positive_rows,
      negatives,
      negative_squares,
      negative_rows,
      next_negatives,
      next_squares,
      next_rows,
      positives_above,
      negatives_below,
      all_positives,
      all_negatives,
      positives / NULLIF(all_positives, 0) AS share_here,
      CASE WHEN upto > 0 THEN (positives_above + positives) / NULLIF(upto, 0) ELSE CAST(0 AS DOUBLE) END AS precision_here,
      CASE WHEN upto > 0 THEN positives / NULLIF(all_positives, 0) * ((negatives_above + negatives) / NULLIF(upto, 0)) / NULLIF(upto, 0) ELSE CAST(0 AS DOUBLE) END AS raised_here,
      CASE WHEN upto > 0 THEN positives / NULLIF(all_positives, 0) * ((positives_above + positives) / NULLIF(upto, 0)) / NULLIF(upto, 0) ELSE CAST(0 AS DOUBLE) END AS lowered_here
    FROM (
      SELECT
        group_id,
        place,
        threshold,
        positives,
        squares,
        positive_rows,
        negatives,
        negative_squares,
        negative_rows,
        next_negatives,
        next_squares,
        next_rows,
        positives_above,
        negatives_above,
        negatives_below,
        all_positives,
        all_negatives,
        positives_above + positives + negatives_above + negatives AS upto
      FROM segments
    ) AS u
  ) AS h
) AS s
CROSS JOIN parts AS p
