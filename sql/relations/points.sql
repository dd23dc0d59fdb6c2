-- points: one row per distinct score that a curve keeps, highest first: the first and the last of each piece.
-- $points: integer from 0 to 10000000, default 1000: the most points that are kept, 10 or more; 0 for all.
SELECT
  group_id,
  ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY score DESC) AS point,
  score,
  tp,
  fp,
  all_positives,
  all_negatives
FROM (
  SELECT
    group_id,
    score,
    tp,
    fp,
    all_positives,
    all_negatives,
    ROW_NUMBER() OVER (PARTITION BY group_id, piece ORDER BY score DESC) AS from_first,
    ROW_NUMBER() OVER (PARTITION BY group_id, piece ORDER BY score) AS from_last
  FROM pieces
) AS numbered
WHERE from_first = 1 OR from_last = 1 OR $points = 0
