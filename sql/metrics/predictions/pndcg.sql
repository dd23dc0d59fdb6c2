-- PnDCG: probabilities given to positives over the greatest sum that as many predictions could have.
--     P-nDCG = sum of w p y / sum of w p over the highest probabilities whose weight is that of the positives
-- Full name: normalized gain of probabilities.
-- Use when: you compare how much of the probability went to positives. For the order of the scores, use AUC.
-- $k: number above 0, default all: cut-off, the weight of the top-ranked predictions that count.
-- Requires: binary labels, probabilities.
-- Interval: bootstrap (the score at which the top ends depends on all rows)
-- Range: 0 to 1.
-- Undefined: predictions without a positive, or whose highest probabilities are all 0.
-- Source: Valassis, P-nDCG; weighted by filling the top in parts.
SELECT
  group_id,
  SUM(
    score * positives * CASE
      WHEN positives_above + negatives_above + positives + negatives > $k
        THEN CASE
          WHEN positives_above + negatives_above >= $k THEN 0
          ELSE ($k - positives_above - negatives_above) / NULLIF(positives + negatives, 0)
        END
      ELSE 1
    END
  ) / NULLIF(SUM(
    score * weight_in_top(
      positives, negatives, positives_above, negatives_above, CASE WHEN total_positives >= $k THEN $k ELSE total_positives END
    )
  ), 0) AS pndcg
FROM score_thresholds
GROUP BY group_id
