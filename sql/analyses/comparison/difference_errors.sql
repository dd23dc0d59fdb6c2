-- difference_errors: one row per group, pair of systems and metric: standard error of the mean difference, and its degrees of freedom.
-- Influence on a metric of all rows may rest on few of them, such as the positives, and has the degrees of freedom that follow from its kurtosis.
-- The variance of two areas is raised as theirs are, at the same correlation.
-- Source: linearisation, Deng, Knoblich & Lu 2018, section 2; Satterthwaite 1946.
-- Grain: cell, pair, metric
SELECT
  cell, -- number of the group
  pair, metric,
  SQRT(
    CASE WHEN raised_variance > variance THEN raised_variance ELSE variance END
  ) AS se, -- standard error of the mean difference
  degrees_of_freedom(concentration, units, units) AS influence_df, -- degrees of freedom of the standard error of influence
  integer_squares, -- sum of squared integer differences
  total, -- sum of integer differences
  above, -- units in which the system is better
  equal, -- units without a difference
  below, -- units in which the baseline is better
  changed -- units that change
FROM (
  -- one row per group, pair of systems and metric
  SELECT
    difference_sums.*,
    influence_concentration(difference_sums.squares, difference_sums.fourth_powers, difference_sums.units) AS concentration,
    difference_sums.units / NULLIF(difference_sums.units - 1, 0) * difference_sums.squares AS variance,
    area_variances.raised_gap * area_variances.raised_gap
      + COALESCE(
        (difference_sums.units / NULLIF(difference_sums.units - 1, 0) * difference_sums.squares - area_variances.gap * area_variances.gap)
          / NULLIF(area_variances.product, 0),
        2
      ) * area_variances.raised_product AS raised_variance
  FROM difference_sums
  LEFT JOIN area_variances
    ON difference_sums.cell = area_variances.cell
    AND difference_sums.pair = area_variances.pair
    AND difference_sums.metric = area_variances.metric
) AS difference_variances
