-- estimate: counted over of_all, as it is in the sample.
CREATE MACRO estimate(counted, of_all, product, square, clusters) AS counted / NULLIF(of_all, 0)
