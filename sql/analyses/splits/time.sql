-- time: one row per row of the input: its columns, and its time, which the bounds of the parts are compared with.
-- Grain: rows of source_rows
SELECT
  source_rows.*,
  source_rows.time AS split
FROM source_rows
