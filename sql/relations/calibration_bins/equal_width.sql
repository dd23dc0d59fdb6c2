-- calibration_bins: one row per group and non-empty bin of equal width over [0, 1], with its weight and the sums of its scores and labels.
-- A score on an edge is in the lower bin. The bin computed by a product is corrected by its edges, since the product may be rounded
-- across one.
-- $bins: integer from 1 to 100000, default 10: number of bins.
-- Grain: group_id, bin
SELECT
  group_id,
  bin,
  SUM(weight) AS weight,
  SUM(weight * score) AS score_sum,
  SUM(weight * label) AS label_sum
FROM (
  SELECT
    group_id,
    label,
    score,
    weight,
    CASE
      WHEN score <= (nearest_bin - 1) / $bins AND nearest_bin > 1 THEN nearest_bin - 1
      WHEN score > nearest_bin / $bins AND nearest_bin < $bins THEN nearest_bin + 1
      ELSE nearest_bin
    END AS bin
  FROM (
    SELECT
      group_id,
      label,
      score,
      weight,
      CASE WHEN score > 0 THEN -FLOOR(-score * $bins) ELSE 1 END AS nearest_bin
    FROM predictions
  ) AS placed
) AS binned
GROUP BY group_id, bin
