-- bootstrap_limits: one row per group: the limits of every metric, order statistics of the replicates without interpolation.
-- 1e-9 is for rounding errors of a rank that is an integer. Ranks are added on both sides, because Databend evaluates a comparison of
-- one in a window with a difference wrongly.
-- Grain: group_id
SELECT
  ranked_replicates.group_id,
  MAX(
    CASE
      WHEN ranked_replicates.value_place = FLOOR((observed_metrics.value_drawn + 1) * $tail + 1e-9) THEN ranked_replicates.value
    END
  ) AS value_ci_low,
  MAX(
    CASE
      WHEN ranked_replicates.value_place + FLOOR((observed_metrics.value_drawn + 1) * $tail + 1e-9) = observed_metrics.value_drawn + 1
        THEN ranked_replicates.value
    END
  ) AS value_ci_high
FROM ranked_replicates
JOIN observed_metrics ON observed_metrics.group_id = ranked_replicates.group_id
GROUP BY ranked_replicates.group_id
