-- lift_variant: nothing is taken off.
CREATE MACRO lift_variant(squares, pairs) AS 0
