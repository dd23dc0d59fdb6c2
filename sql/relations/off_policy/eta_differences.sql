-- eta_differences: one row per group and eta of a fine grid: ClickDCG of the run and the baseline, their difference, and worth of the clicks.
-- $max_eta: number above 0 to 10, default 2: the greatest eta.
-- $clip: number above 0, default 10: limit of the weights that are counted.
-- importance_weight(): default none: limit of the weight of a click.
-- Grain: group_id, step
SELECT
  group_id,
  step, -- number of the eta, from 0
  step * $max_eta / 200 AS eta, -- how fast attention decreases with the rank
  run_gain / NULLIF(num_lists, 0) AS click_dcg, -- mean over the lists of the group
  baseline_gain / NULLIF(num_lists, 0) AS baseline_click_dcg,
  CASE
    WHEN ABS(run_gain - baseline_gain) > 0.000000000001 * (run_gain + baseline_gain) THEN run_gain - baseline_gain
    ELSE 0
  END / NULLIF(num_lists, 0) AS dcg_difference, -- 0 if both are equal up to rounding
  weight_sum * weight_sum / NULLIF(squared_weight_sum, 0) AS ess, -- effective number of clicks
  num_clipped / NULLIF(num_clicks, 0) AS clipped_share -- clicks of a weight above the limit
FROM (
  -- one row per group and eta
  SELECT
    group_id, step,
    MAX(num_lists) AS num_lists,
    SUM(num_clicks) AS num_clicks,
    SUM(CASE WHEN inverse_propensity > $clip * 1.000000001 THEN num_clicks ELSE 0 END) AS num_clipped,
    SUM(gain * importance_weight(inverse_propensity)) AS run_gain,
    SUM(baseline_gain * importance_weight(inverse_propensity)) AS baseline_gain,
    SUM(num_clicks * importance_weight(inverse_propensity)) AS weight_sum,
    SUM(num_clicks * importance_weight(inverse_propensity) * importance_weight(inverse_propensity)) AS squared_weight_sum
  FROM (
    -- one row per group, rank at which documents were shown, and eta
    SELECT
      display_gains.*,
      eta_steps.step,
      EXP(eta_steps.step * $max_eta / 200 * LN(display_gains.display_rank)) AS inverse_propensity
    FROM display_gains
    CROSS JOIN eta_steps
  ) AS weighted_gains
  GROUP BY group_id, step
) AS eta_sums
