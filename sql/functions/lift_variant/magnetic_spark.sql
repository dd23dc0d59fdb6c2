-- lift_variant: what the published Spark code loses by counting the weight of each positive once too often.
CREATE MACRO lift_variant(squares_per_pair) AS 2 * squares_per_pair
