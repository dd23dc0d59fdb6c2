-- calibration_bins: one row per group and bin of equal width over [0, 1] with predictions: its weight, and weighted sums of scores and labels.
-- The bin computed by a product is corrected by its edges, since the product may be rounded across one.
-- $bins: integer from 1 to 100000, default 10: number of bins.
-- bin_score(): default given: the score that is compared with the limits of bins.
-- Grain: group_id, bin
SELECT
  group_id,
  bin, -- number of the bin, from 1 at the lowest scores
  SUM(weight) AS weight, -- of the predictions in the bin
  SUM(weight * score) AS score_sum, -- sum of weight times score
  SUM(weight * label) AS label_sum -- sum of weight times label
FROM (
  -- one row per prediction
  SELECT
    nearest_bins.*,
    CASE
      WHEN bin_score(score) <= (nearest_bin - 1) / $bins AND nearest_bin > 1 THEN nearest_bin - 1
      WHEN bin_score(score) > nearest_bin / $bins AND nearest_bin < $bins THEN nearest_bin + 1
      ELSE nearest_bin
    END AS bin -- bin, corrected; a score at a limit is in the lower bin
  FROM (
    -- one row per prediction
    SELECT
      predictions.*,
      CASE WHEN bin_score(score) > 0 THEN -FLOOR(-bin_score(score) * $bins) ELSE 1 END AS nearest_bin -- its bin; rounding may move it by one, see the next step
    FROM predictions
    WHERE weight > 0
  ) AS nearest_bins
) AS binned_predictions
GROUP BY group_id, bin
