-- parts: what a prediction of a segment can be: 0 a positive, 1 a negative of the same score, 2 a negative of a lower one.
SELECT 0 AS part
UNION ALL SELECT 1 AS part
UNION ALL SELECT 2 AS part
