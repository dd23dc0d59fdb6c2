-- squared_margins: one row per group, metric, component and pair of compared groups: difference, ratio, and squared margins.
-- Compared groups that share no units have no correlation, and pair_correlations is not joined.
-- The ratio is that of the lower to the higher value. Its margins are those of its logarithm.
-- Source: Zou & Donner 2008, from the limits of both values; Zou 2007 for correlated values; Newcombe 1998 for shares.
-- Grain: group_id, metric, component_id, value_rank, higher_rank
SELECT
  low.group_id, low.metric, low.component_id, low.value_rank,
  high.value_rank AS higher_rank,
  high.value - low.value AS difference,
  correlated_squares(high.margin_below, low.margin_above, pair_correlations.correlation) AS square_below,
  correlated_squares(high.margin_above, low.margin_below, pair_correlations.correlation) AS square_above,
  high.pair_high AS greatest_value,
  low.value / NULLIF(high.value, 0) AS ratio,
  correlated_squares(low.log_below, high.log_above, pair_correlations.correlation) AS log_square_below,
  correlated_squares(low.log_above, high.log_below, pair_correlations.correlation) AS log_square_above,
  CASE WHEN high.pair_low > 0 THEN low.pair_high / NULLIF(high.pair_low, 0) END AS greatest_ratio,
  CASE WHEN low.value < 0 THEN 1 ELSE 0 END AS is_negative
FROM limit_margins AS low
INNER JOIN limit_margins AS high
  ON high.group_id = low.group_id AND high.metric = low.metric AND high.component_id = low.component_id
  AND high.value_rank > low.value_rank
LEFT JOIN pair_correlations
  ON pair_correlations.group_id = low.group_id
  AND pair_correlations.metric = low.metric
  AND pair_correlations.component_id = low.component_id
  AND pair_correlations.value_rank = low.value_rank
  AND pair_correlations.higher_rank = high.value_rank
