-- fourth_power_sum: sum of the fourth powers of influence, from a row per unit.
CREATE MACRO fourth_power_sum(influence, num_units) AS SUM(influence * influence * influence * influence)
