-- lift_variant: the error of the published Spark code, which counts the weight of each positive once too often.
CREATE MACRO lift_variant(squares_per_pair) AS 2 * squares_per_pair
