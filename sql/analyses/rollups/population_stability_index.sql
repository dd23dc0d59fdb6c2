-- population_stability_index: one row per group: population stability index of its scores in two rollups.
-- It is the sum of (current - reference share) * ln(current / reference share) over deciles of the reference weight in the order of scores.
-- Bins are not divided. A share counts as at least 0.0001, since the index of an empty decile would be infinite.
-- Grain: group_number
WITH bin_weights AS (
  SELECT group_number, bin, SUM(reference_weight) AS reference_weight, SUM(current_weight) AS current_weight
  FROM (
    -- one row per group, bin and rollup
    SELECT group_number, bin, positives + negatives AS reference_weight, 0 AS current_weight FROM reference_bins
    UNION ALL SELECT group_number, bin, 0 AS reference_weight, positives + negatives AS current_weight FROM current_bins
  ) AS rollup_bins
  GROUP BY group_number, bin
),
decile_bins AS (
  SELECT
    group_number, reference_weight, current_weight,
    FLOOR(
      10 * (SUM(reference_weight) OVER (PARTITION BY group_number ORDER BY bin) - reference_weight / 2)
      / NULLIF(SUM(reference_weight) OVER (PARTITION BY group_number), 0)
    ) AS decile
  FROM bin_weights
),
decile_shares AS (
  SELECT
    group_number,
    SUM(reference_weight) / NULLIF(SUM(SUM(reference_weight)) OVER (PARTITION BY group_number), 0) AS reference_share,
    SUM(current_weight) / NULLIF(SUM(SUM(current_weight)) OVER (PARTITION BY group_number), 0) AS current_share
  FROM decile_bins
  GROUP BY group_number, CASE WHEN decile > 9 THEN 9 ELSE decile END
),
floored_shares AS (
  SELECT
    group_number,
    CASE WHEN reference_share < 0.0001 THEN 0.0001 ELSE reference_share END AS reference_share,
    CASE WHEN current_share < 0.0001 THEN 0.0001 ELSE current_share END AS current_share
  FROM decile_shares
)
SELECT
  group_number,
  SUM((current_share - reference_share) * LN(current_share / reference_share)) AS psi
FROM floored_shares
GROUP BY group_number
