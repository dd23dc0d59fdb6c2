-- without: the bins of each pair of a group and one of its folds, without the rows of that fold. Sums are made of the other folds and not
-- taken from the total, which would leave crumbs where nothing is left.
SELECT
  p.pair_number AS group_number,
  w.bin,
  CASE WHEN o.fold IS NULL THEN w.positives ELSE o.positives END AS positives,
  CASE WHEN o.fold IS NULL THEN w.negatives ELSE o.negatives END AS negatives,
  w.score_min,
  w.score_max
FROM pairs AS p
INNER JOIN (
  SELECT
    group_number,
    bin,
    SUM(positives) AS positives,
    SUM(negatives) AS negatives,
    MIN(score_min) AS score_min,
    MAX(score_max) AS score_max
  FROM fold_bins
  GROUP BY group_number, bin
) AS w ON w.group_number = p.group_number
LEFT JOIN (
  SELECT
    group_number,
    bin,
    fold,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_number, bin ORDER BY fold ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW
    ), 0) AS positives,
    COALESCE(SUM(negatives) OVER (
      PARTITION BY group_number, bin ORDER BY fold ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW
    ), 0) AS negatives
  FROM fold_bins
) AS o ON o.group_number = p.group_number AND o.bin = w.bin AND o.fold = p.fold
