-- influence_concentration: concentration of a variance on few units, the sum of fourth powers of influence over the squared sum of squares.
-- It is 1 over the number of units if all have the same influence, about 3 over it if influence is normally distributed, and 1 if one
-- unit has all of it.
CREATE MACRO influence_concentration(influence, num_units) AS
  SUM(influence * influence * influence * influence) / NULLIF(SUM(influence * influence) * SUM(influence * influence), 0)
