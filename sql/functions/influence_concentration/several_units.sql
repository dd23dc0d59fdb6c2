-- influence_concentration: concentration of the variance, from rows of several units: 0 at equal influence, nearly 1 if one has all.
-- From rows that represent several units each; the influence of a row is the root of the sum of the squared influences of its units.
CREATE MACRO influence_concentration(influence, num_units, units) AS
  SUM(influence * influence * influence * influence / NULLIF(num_units, 0)) / NULLIF(SUM(influence * influence) * SUM(influence * influence), 0)
  - 1 / NULLIF(units, 0)
