-- grid: one row per group and score bin with predictions: class weights, lowest and highest score, and rows, which add over days.
-- $n_bins: integer from 1 to 65536, default 1024: number of bins between 0 and 1, which are equal steps of the 16th root of the score.
-- For each: total (a SUM, COUNT, MIN or MAX over predictions that metrics need)
-- Grain: group_id, bin
SELECT
  group_id,
  bin, -- number of the bin, ascending with the score
  SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives, -- weight of the positives in the bin
  SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives, -- weight of the negatives in the bin
  MIN(score) AS score_min, -- lowest score in the bin
  MAX(score) AS score_max, -- highest score in the bin
  COUNT(*) AS num_rows,
  $total AS total
FROM (
  -- one row per prediction
  SELECT
    group_id, label, score, weight,
    FLOOR($n_bins * (CASE WHEN score < 0 THEN -1 ELSE 1 END) * sixteenth_root(ABS(CAST(score AS DOUBLE)))) AS bin -- steps of the 16th root of the score, with its sign
  FROM predictions
) AS binned_predictions
GROUP BY group_id, bin
