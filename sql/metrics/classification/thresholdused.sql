-- ThresholdUsed: the threshold that was used: the one given, or the best.
-- cut: default threshold: a threshold that is given, or the best one by a criterion.
-- Requires: binary labels.
-- No influence: it is a score, given or found.
-- Undefined: predictions without a positive, where the best is looked for.
-- Source: sqlrank.
-- Better: neither.
SELECT
  group_id,
  MAX(threshold) AS threshold_used
FROM confusion
GROUP BY group_id
