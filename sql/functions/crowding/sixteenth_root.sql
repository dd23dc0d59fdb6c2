-- crowding: a scale that is fine near 0, as a logarithm is, but made of square roots, which IEEE 754 wants correctly
-- rounded: unlike those of LN, their results keep the order of the arguments on every engine.
CREATE MACRO crowding(distance) AS SQRT(SQRT(SQRT(SQRT(distance))))
