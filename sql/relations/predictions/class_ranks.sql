-- class_ranks: one row per prediction: label, score, its rank by score within its class, and the number of positives of its group.
-- Grain: group_id, label, class_rank
SELECT
  group_id, label, score,
  ROW_NUMBER() OVER (
    PARTITION BY group_id, CASE WHEN label = 1 THEN 1 ELSE 0 END ORDER BY score DESC
  ) AS class_rank, -- from 1, the highest score of the class
  SUM(label) OVER (PARTITION BY group_id) AS total_positives
FROM predictions
