-- segment_parts: one row per kind of prediction at a score, 0 positives, 1 negatives: number of the kind. None are between scores.
-- Grain: segment_part
SELECT 0 AS segment_part -- 0 positives, 1 negatives
UNION ALL SELECT 1 AS segment_part
