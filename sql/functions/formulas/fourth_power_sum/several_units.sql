-- fourth_power_sum: sum of the fourth powers of influence, from rows of several units.
-- The influence of a row is the root of the sum of the squared influences of its units.
CREATE MACRO fourth_power_sum(influence, num_units) AS
  SUM(influence * influence * influence * influence / NULLIF(num_units, 0))
