-- pieces: one row per distinct score with the weights of both classes from that score up, and the piece of the curve that
-- it falls in. The way from (0, 0) to (1, 1) is cut into pieces of equal length |d FPR| + |d TPR|, so that straight lines
-- between their ends miss at most 1 / (points - 2) of area.
-- $points: integer from 0 to 10000000, default 1000: the most points that are kept, 10 or more; 0 for all.
SELECT
  group_id,
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
