-- lift_variant: what the published Spark code loses by counting the weight of each positive once too often.
CREATE MACRO lift_variant(squares, pairs) AS 2 * squares / pairs
