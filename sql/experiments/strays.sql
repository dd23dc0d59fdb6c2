-- strays: one row: how many units were seen in several variants.
SELECT COUNT(*) AS crossed
FROM units
WHERE variant <> last_variant
