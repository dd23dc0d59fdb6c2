-- exact_sign_flips: one row per group, metric and pair of systems that differ in at most 20 units: p-value of the randomization test over all signs.
-- Sums of half of the differences under all of their signs are joined with those of the other half: of n, 2^n sums are compared, not added up.
-- Sums within the rounding error, one per unit, count as equal.
-- Source: Fisher 1935, section 21.
-- Grain: cell, metric, pair
SELECT
  first_halves.cell, -- number of the group
  first_halves.metric, first_halves.pair,
  AVG(
    CASE
      WHEN ABS(first_halves.signed_sum + COALESCE(second_halves.signed_sum, 0)) >= ABS(first_halves.total) - first_halves.num_differences THEN 1
      ELSE 0
    END
  ) AS p_value -- share of all signs with a sum at least as extreme
FROM signed_half_sums AS first_halves
LEFT JOIN signed_half_sums AS second_halves
  ON second_halves.cell = first_halves.cell
  AND second_halves.metric = first_halves.metric
  AND second_halves.pair = first_halves.pair
  AND second_halves.half = 1
WHERE first_halves.half = 0
GROUP BY first_halves.cell, first_halves.metric, first_halves.pair
