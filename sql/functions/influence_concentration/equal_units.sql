-- influence_concentration: concentration of a variance on few units, from rows that represent several units each.
-- The influence of a row is the root of the sum of the squared influences of its units.
CREATE MACRO influence_concentration(influence, num_units) AS
  SUM(influence * influence * influence * influence / NULLIF(num_units, 0)) / NULLIF(SUM(influence * influence) * SUM(influence * influence), 0)
