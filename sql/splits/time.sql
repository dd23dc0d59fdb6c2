-- time: one row per row of the input, placed by its time between the bounds of the parts.
-- Grain: rows of source_rows
SELECT
  source_rows.*,
  source_rows.time AS split
FROM source_rows
