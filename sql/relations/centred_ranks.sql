-- centred_ranks: one row per label and score that occur together in a list, with their average ranks by label and by score,
-- less the mean rank of the list: half of the weight up to it less that from it on. What rooms of a list add up to is a third of
-- the cube of its weight less the cubes of the weights of its predictions.
SELECT
  group_id,
  label,
  score,
  weight,
  room,
  (SUM(weight) OVER (PARTITION BY group_id ORDER BY label) - SUM(weight) OVER (PARTITION BY group_id ORDER BY label DESC)) / 2 AS label_rank,
  (SUM(weight) OVER (PARTITION BY group_id ORDER BY score) - SUM(weight) OVER (PARTITION BY group_id ORDER BY score DESC)) / 2 AS score_rank
FROM (
  SELECT
    group_id,
    label,
    score,
    SUM(weight) AS weight,
    SUM(weight * weight_before * (weight_before + weight)) AS room
  FROM (
    SELECT
      group_id,
      label,
      score,
      weight,
      COALESCE(SUM(weight) OVER (
        PARTITION BY group_id ORDER BY weight ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ), 0) AS weight_before
    FROM predictions
    WHERE weight > 0
  ) AS running
  GROUP BY group_id, label, score
) AS merged
