-- difference_errors: one row per group, pair of systems and metric: standard error of the mean difference, and its degrees of freedom.
-- Values of queries have the degrees of freedom of Student's paired test. Influence on a metric of all rows may rest on few of them, such as the
-- positives, and has those that follow from its kurtosis. The variance of two areas is raised as theirs are, at the same correlation.
-- Source: linearisation, Deng, Knoblich & Lu 2018, section 2; Satterthwaite 1946.
-- Grain: cell, pair, metric
SELECT
  cell, -- number of the group
  pair,
  metric,
  SQRT(
    CASE WHEN raised_variance > variance THEN raised_variance ELSE variance END
  ) AS se, -- standard error of the mean difference
  CASE
    WHEN is_pooled THEN degrees_of_freedom(influence_concentration(squares, fourth_powers, units), units, units)
    ELSE units - 1
  END AS df -- degrees of freedom of the standard error
FROM (
  -- one row per group, pair of systems and metric
  SELECT
    difference_sums.cell,
    difference_sums.pair,
    difference_sums.metric,
    difference_sums.units,
    difference_sums.squares,
    difference_sums.fourth_powers,
    mean_differences.is_pooled,
    difference_sums.units / NULLIF(difference_sums.units - 1, 0) * difference_sums.squares AS variance,
    paired_areas.raised_gap * paired_areas.raised_gap
      + COALESCE(
        (difference_sums.units / NULLIF(difference_sums.units - 1, 0) * difference_sums.squares - paired_areas.gap * paired_areas.gap)
          / NULLIF(paired_areas.product, 0),
        2
      ) * paired_areas.raised_product AS raised_variance
  FROM difference_sums
  INNER JOIN mean_differences
    ON difference_sums.cell = mean_differences.cell
    AND difference_sums.pair = mean_differences.pair
    AND difference_sums.metric = mean_differences.metric
  LEFT JOIN (
    -- one row per group, pair of systems and area: differences and products of both standard errors
    SELECT
      cell,
      pair,
      metric,
      SUM(sign * SQRT(variance)) AS gap,
      MIN(SQRT(variance)) * MAX(SQRT(variance)) AS product,
      SUM(sign * SQRT(raised_variance)) AS raised_gap,
      MIN(SQRT(raised_variance)) * MAX(SQRT(raised_variance)) AS raised_product
    FROM area_variances
    GROUP BY cell, pair, metric
  ) AS paired_areas
    ON difference_sums.cell = paired_areas.cell
    AND difference_sums.pair = paired_areas.pair
    AND difference_sums.metric = paired_areas.metric
) AS difference_variances
