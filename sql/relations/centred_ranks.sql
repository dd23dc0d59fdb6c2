-- centred_ranks: one row per label and score that occur together in a list, with their average ranks by label and by score,
-- less the mean rank of the list: half of the weight up to it less that from it on.
SELECT
  group_id,
  label,
  score,
  weight,
  cubes,
  (SUM(weight) OVER (PARTITION BY group_id ORDER BY label) - SUM(weight) OVER (PARTITION BY group_id ORDER BY label DESC)) / 2 AS label_rank,
  (SUM(weight) OVER (PARTITION BY group_id ORDER BY score) - SUM(weight) OVER (PARTITION BY group_id ORDER BY score DESC)) / 2 AS score_rank
FROM (
  SELECT
    group_id,
    label,
    score,
    SUM(weight) AS weight,
    SUM(weight * weight * weight) AS cubes
  FROM predictions
  WHERE weight > 0
  GROUP BY group_id, label, score
) AS merged
