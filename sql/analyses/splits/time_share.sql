-- time_share: one row per row of the input: its columns, and the share of rows that are not later, so that equal times are in one part.
-- Grain: rows of source_rows
SELECT
  source_rows.*,
  COUNT(*) OVER (ORDER BY source_rows.time) / COUNT(*) OVER () AS split
FROM source_rows
