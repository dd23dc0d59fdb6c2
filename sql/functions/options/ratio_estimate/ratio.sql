-- ratio_estimate: ratio of two sums over clusters, without a bias correction.
CREATE MACRO ratio_estimate(counted, of_all) AS SUM(counted) / NULLIF(SUM(of_all), 0)
