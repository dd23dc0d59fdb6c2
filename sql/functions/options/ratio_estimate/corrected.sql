-- ratio_estimate: ratio of two sums over clusters, less the first-order bias of a ratio of means in a small sample.
-- Interval: of ratio
-- Source: Binette et al. 2023; er-evaluation ratio_estimator.
CREATE MACRO ratio_estimate(counted, of_all) AS
  SUM(counted) / NULLIF(SUM(of_all), 0)
    - COUNT(*) * (SUM(counted) / NULLIF(SUM(of_all), 0) * SUM(of_all * of_all) - SUM(counted * of_all))
      / NULLIF((COUNT(*) - 1) * SUM(of_all) * SUM(of_all), 0)
