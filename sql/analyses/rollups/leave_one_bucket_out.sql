-- leave_one_bucket_out: one row per group, bucket to leave out, and bin: class weights without the bucket, and lowest and highest score.
-- A sum less its only part is exactly 0, and a sum of nonnegative numbers is never less than a part, so that bins of a single bucket leave
-- no rounding errors.
-- Grain: group_number, bin
SELECT
  pairs.pair_number AS group_number, -- number of group and bucket that is left out
  merged_bins.bin,
  merged_bins.positives - CASE WHEN bucket_bins.bucket IS NULL THEN 0 ELSE bucket_bins.positives END AS positives, -- weight
  merged_bins.negatives - CASE WHEN bucket_bins.bucket IS NULL THEN 0 ELSE bucket_bins.negatives END AS negatives, -- weight
  merged_bins.score_min, -- lowest score in the bin
  merged_bins.score_max -- highest score in the bin
FROM pairs
INNER JOIN (
  -- one row per group and bin
  SELECT
    group_number, bin,
    SUM(positives) AS positives,
    SUM(negatives) AS negatives,
    MIN(score_min) AS score_min,
    MAX(score_max) AS score_max
  FROM bucket_bins
  GROUP BY group_number, bin
) AS merged_bins ON merged_bins.group_number = pairs.group_number
LEFT JOIN bucket_bins
  ON bucket_bins.group_number = pairs.group_number
  AND bucket_bins.bin = merged_bins.bin
  AND bucket_bins.bucket = pairs.bucket
