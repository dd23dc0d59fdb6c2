-- time: one row per input row, with its time, which is compared with the bounds of the parts.
-- Grain: rows of source_rows
SELECT g.*, g.time AS split
FROM source_rows AS g
