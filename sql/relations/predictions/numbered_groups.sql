-- numbered_groups: one row per group: its number, unit of weights, class totals, rows, and class totals of the groups of lower number.
-- Weights are whole numbers of equal units: sums of integers are exact, so that totals of earlier groups can be subtracted.
-- exact_weight(): default rows: weight as a number of units.
-- Grain: group_number
SELECT
  group_id,
  group_number, -- from 1
  unit_weight, -- weight of one unit
  positive_units, -- weight of the positives in units
  negative_units, -- weight of the negatives in units
  CAST(positive_units AS DOUBLE) * unit_weight AS total_positives,
  CAST(negative_units AS DOUBLE) * unit_weight AS total_negatives,
  total_rows,
  COALESCE(SUM(positive_units) OVER (
    ORDER BY group_number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS positive_units_before, -- of all groups of lower number
  COALESCE(SUM(negative_units) OVER (
    ORDER BY group_number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS negative_units_before -- of all groups of lower number
FROM (
  -- one row per group
  SELECT
    group_totals.*,
    ROW_NUMBER() OVER (ORDER BY group_id) AS group_number,
    1.0 / NULLIF(CAST(exact_weight(1) AS DOUBLE), 0) AS unit_weight,
    total_units - positive_units AS negative_units
  FROM (
    -- one row per group
    SELECT
      group_id,
      COALESCE(SUM(CASE WHEN label = 1 THEN exact_weight(weight) ELSE 0 END), 0) AS positive_units,
      COALESCE(SUM(exact_weight(weight)), 0) AS total_units,
      COUNT(*) AS total_rows
    FROM predictions
    GROUP BY group_id
  ) AS group_totals
) AS group_numbers
