-- tail_bounds: one row per group, metric, component and compared group: bounds of normal quantiles, SQRT(-2 * LN(tail)), and 1 / df.
-- The tail is that of the confidence level, shared by the intervals that hold together (Bonferroni). The factor of 1 / df makes Student's t
-- of a normal quantile.
-- Source: Wallace 1959, to 1.2 % from 3 degrees of freedom.
-- Grain: group_id, metric, component_id, compared_id
SELECT
  comparison_counts.*,
  SQRT(2 * LN(num_values / $tail)) AS value_bound,
  CASE WHEN num_pairs > 0 THEN SQRT(2 * LN(num_pairs / $tail)) END AS pair_bound,
  (8 * n_units - 5) * (8 * n_units - 5) / NULLIF((8 * n_units - 7) * (8 * n_units - 7) * (n_units - 1), 0) AS inverse_df
FROM comparison_counts
