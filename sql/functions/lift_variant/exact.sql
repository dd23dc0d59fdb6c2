-- lift_variant: no correction.
CREATE MACRO lift_variant(squares_per_pair) AS 0
