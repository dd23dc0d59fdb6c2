-- MergeDistance: number of splits and merges that make the true clusters of the predicted ones.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: Menestrina, Whang & Garcia-Molina 2010.
SELECT
  group_id,
  2 * COUNT(*) - SUM(predicted_first) - SUM(true_first) AS mergedistance
FROM contingency
GROUP BY group_id
