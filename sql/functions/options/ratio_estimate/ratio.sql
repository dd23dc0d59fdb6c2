-- ratio_estimate: ratio of two cluster sums, without a bias correction.
CREATE MACRO ratio_estimate(counted, of_all, product, square, clusters) AS counted / NULLIF(of_all, 0)
