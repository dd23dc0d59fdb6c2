-- lift_variant: 0, no correction.
CREATE MACRO lift_variant(squares_per_pair) AS 0
