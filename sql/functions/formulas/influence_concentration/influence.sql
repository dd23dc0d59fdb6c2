-- influence_concentration: concentration of the variance: 0 if units have equal influence, near 1 if one has all.
-- It is the sum of fourth powers of influence over the squared sum of squares, less 1 / units: about 2 / units if influence is normally distributed.
CREATE MACRO influence_concentration(squares, fourth_powers, units) AS
  fourth_powers / NULLIF(squares * squares, 0) - 1 / NULLIF(units, 0)
