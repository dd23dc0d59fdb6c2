-- roc_points: one row per distinct score that a curve keeps, highest first, with the weights of both classes from that
-- score up. The way from (0, 0) to (1, 1) is cut into pieces of equal length |d FPR| + |d TPR|; the first and the last
-- score of each piece are kept, so that straight lines between them miss at most 1 / points of area.
-- $points: integer from 0, default 1000: the most points that are kept, 10 or more; 0 for all.
SELECT
  list_id,
  ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score DESC) AS point,
  score,
  tp,
  fp,
  all_positives,
  all_negatives
FROM (
  SELECT
    list_id,
    score,
    tp,
    fp,
    all_positives,
    all_negatives,
    ROW_NUMBER() OVER (PARTITION BY list_id, piece ORDER BY score DESC) AS from_first,
    ROW_NUMBER() OVER (PARTITION BY list_id, piece ORDER BY score) AS from_last
  FROM (
    SELECT
      list_id,
      score,
      positives_above + positives AS tp,
      negatives_above + negatives AS fp,
      all_positives,
      all_negatives,
      CAST(FLOOR(
        (CASE WHEN $points < 10 THEN 8 ELSE $points - 2 END) / 4
          * (COALESCE((positives_above + positives) / NULLIF(all_positives, 0), 0)
            + COALESCE((negatives_above + negatives) / NULLIF(all_negatives, 0), 0))
      ) AS BIGINT) AS piece
    FROM scores
  ) AS pieces
) AS numbered
WHERE from_first = 1 OR from_last = 1 OR $points = 0
