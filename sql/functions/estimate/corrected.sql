-- estimate: counted over of_all, less the bias that a ratio of means has in a small sample, to the first order.
-- Default: this one.
-- Interval of: ratio.
-- Source: Binette et al. 2023; er-evaluation ratio_estimator.
CREATE MACRO estimate(counted, of_all, product, square, clusters) AS
  counted / NULLIF(of_all, 0)
    - clusters * (counted / NULLIF(of_all, 0) * square - product) / NULLIF((clusters - 1) * of_all * of_all, 0)
