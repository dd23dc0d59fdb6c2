-- The same with ROW_NUMBER: what tied rows get depends on how they happen to be read.
SELECT
  (SUM(CASE WHEN label = 1 THEN place END) - MAX(p) * (MAX(p) + 1) / 2)
    / (MAX(p) * MAX(n)) AS auc
FROM (
  SELECT
    label,
    ROW_NUMBER() OVER (ORDER BY score) AS place,
    SUM(label) OVER () AS p,
    SUM(1 - label) OVER () AS n
  FROM predictions
) AS ranked
