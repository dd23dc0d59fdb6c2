-- ratio_estimate: ratio of two cluster sums, less the first-order bias of a ratio of means in a small sample.
-- Interval: of ratio
-- Source: Binette et al. 2023; er-evaluation ratio_estimator.
CREATE MACRO ratio_estimate(counted, of_all, product, square, clusters) AS
  counted / NULLIF(of_all, 0)
    - clusters * (counted / NULLIF(of_all, 0) * square - product) / NULLIF((clusters - 1) * of_all * of_all, 0)
