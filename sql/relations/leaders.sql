-- leaders: one row per distinct score with the weight of each class at it that is among the first k predictions, if any
-- is; of a tie across the k-th each prediction is in part.
-- $k: integer from 1: how many predictions, the highest, are looked at.
SELECT
  group_id,
  above,
  negatives_above,
  CASE WHEN upto <= $k THEN positives ELSE positives * ($k - above) / NULLIF(upto - above, 0) END AS positives,
  CASE WHEN upto <= $k THEN negatives ELSE negatives * ($k - above) / NULLIF(upto - above, 0) END AS negatives
FROM (
  SELECT
    group_id,
    positives,
    negatives,
    negatives_above,
    positives_above + negatives_above AS above,
    positives_above + negatives_above + positives + negatives AS upto
  FROM scores
) AS placed
