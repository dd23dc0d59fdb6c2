-- leave_one_bucket_out: one row per bin of a group without one of its buckets.
-- A sum less its only part is exactly 0, and a sum of nonnegative numbers is never less than a part, so that bins of a single bucket
-- leave no rounding errors.
-- Grain: group_number, bin
SELECT
  p.pair_number AS group_number,
  w.bin,
  w.positives - CASE WHEN o.bucket IS NULL THEN 0 ELSE o.positives END AS positives,
  w.negatives - CASE WHEN o.bucket IS NULL THEN 0 ELSE o.negatives END AS negatives,
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
  FROM bucket_bins
  GROUP BY group_number, bin
) AS w ON w.group_number = p.group_number
LEFT JOIN bucket_bins AS o ON o.group_number = p.group_number AND o.bin = w.bin AND o.bucket = p.bucket
