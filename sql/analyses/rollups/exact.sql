-- exact: one row per group and distinct score: class weights, lowest and highest score, and rows, which add over days.
-- It is exact, and pays if distinct scores are few.
-- For each: total (a SUM, COUNT, MIN or MAX over predictions that metrics need)
-- Grain: group_id, bin
SELECT
  group_id,
  score AS bin, -- the score
  SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives, -- weight of the positives of this score
  SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives, -- weight of the negatives of this score
  MIN(score) AS score_min, -- the score
  MAX(score) AS score_max, -- the score
  COUNT(*) AS num_rows,
  $total AS total
FROM predictions
GROUP BY group_id, score
