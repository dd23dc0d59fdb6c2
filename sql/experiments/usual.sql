-- usual: one row: what units that have a covariate have on average.
SELECT COUNT(*) AS units
FROM units
WHERE variant = last_variant
