-- pieces: one row per distinct score with the weights of both classes from that score up, and the piece of the curve that
-- it falls in. Precision moves fast where few are above, so the pieces are equal on a logarithmic scale: within one,
-- precision changes by a factor of at most exp(4 ln(n) / (points - 4)), n being all weight over that of the first positives.
-- $points: integer from 0 to 10000000, default 1000: the most points that are kept, 10 or more; 0 for all.
-- Never zero: first_tp.
SELECT
  group_id,
  score,
  tp,
  fp,
  all_positives,
  all_negatives,
  CASE
    WHEN tp > 0
      THEN CAST(FLOOR(
        (CASE WHEN $points < 10 THEN 6 ELSE $points - 4 END) / 2
          * (LN(CASE WHEN tp > 0 THEN tp / first_tp END) + LN(CASE WHEN tp > 0 THEN (tp + fp) / first_tp END))
          / NULLIF(2 * LN((all_positives + all_negatives) / first_tp), 0)
      ) AS BIGINT)
    ELSE -1
  END AS piece
FROM (
  SELECT
    group_id,
    score,
    positives_above + positives AS tp,
    negatives_above + negatives AS fp,
    all_positives,
    all_negatives,
    MIN(CASE WHEN positives_above + positives > 0 THEN positives_above + positives END) OVER (PARTITION BY group_id) AS first_tp
  FROM scores
) AS counted
