-- ordered_groups: one row per group, metric, component and compared group: its rank by value from the least, and from the greatest.
-- Compared groups without a value are last, and are summed as 0: Databend counts NULL in a window. Those of equal values are in the order of their columns, NULL first.
-- Grain: group_id, metric, component_id, compared_id
SELECT
  group_id, metric, component_id, compared_id, position, value, ci_low, ci_high, n_units, bound_low,
  bound_high,
  ROW_NUMBER() OVER (
    PARTITION BY group_id, metric, component_id ORDER BY COALESCE(value, 1e308), compared_id
  ) AS value_rank,
  ROW_NUMBER() OVER (
    PARTITION BY group_id, metric, component_id ORDER BY COALESCE(value, -1e308) DESC, compared_id
  ) AS value_rank_from_greatest,
  SUM(CASE WHEN value IS NULL THEN 0 ELSE 1 END) OVER (PARTITION BY group_id, metric, component_id) AS num_groups,
  COUNT(*) OVER (PARTITION BY group_id, metric, component_id) AS num_compared
FROM group_values
