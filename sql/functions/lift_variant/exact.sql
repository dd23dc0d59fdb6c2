-- lift_variant: nothing is taken off.
CREATE MACRO lift_variant(squares_per_pair) AS 0
