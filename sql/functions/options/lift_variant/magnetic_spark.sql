-- lift_variant: twice the squares per pair, as the published Spark code counts the weight of each positive once too often.
CREATE MACRO lift_variant(squares_per_pair) AS 2 * squares_per_pair
