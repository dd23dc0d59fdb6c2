-- time_share: one row per input row, with the share of rows that are not later; rows of equal time are in one part.
-- Grain: rows of source_rows
SELECT g.*, COUNT(*) OVER (ORDER BY g.time) / COUNT(*) OVER () AS split
FROM source_rows AS g
