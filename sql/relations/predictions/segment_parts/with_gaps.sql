-- segment_parts: one row per kind of prediction at a threshold, 0 positives, 1 negatives, 2 negatives down to the next: number of the kind.
-- Grain: segment_part
SELECT 0 AS segment_part -- 0 positives, 1 negatives at it, 2 negatives below it
UNION ALL SELECT 1 AS segment_part
UNION ALL SELECT 2 AS segment_part
