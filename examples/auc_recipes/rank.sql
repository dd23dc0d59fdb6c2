-- The sum of the ranks of the positives, as copied from web pages: tied rows all get the rank of the first.
SELECT
  (SUM(CASE WHEN label = 1 THEN place END) - MAX(p) * (MAX(p) + 1) / 2)
    / (MAX(p) * MAX(n)) AS auc
FROM (
  SELECT
    label,
    RANK() OVER (ORDER BY score) AS place,
    SUM(label) OVER () AS p,
    SUM(1 - label) OVER () AS n
  FROM predictions
) AS ranked
