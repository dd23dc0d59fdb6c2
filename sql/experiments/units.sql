-- units: one row per unit: its variant, and the last one in order, which is another if it was seen in several; its rows are added up.
SELECT
  unit_id,
  MIN(variant) AS variant,
  MAX(variant) AS last_variant
FROM observations
GROUP BY unit_id
