-- share_in_top: share of the rows of a score that are among the rows of the highest scores whose weight is top_weight.
-- It is 1 above the score at which these end, 0 below, and the part that still fits at that score.
CREATE MACRO share_in_top(positives, negatives, positives_above, negatives_above, top_weight) AS
  CASE
    WHEN positives_above + negatives_above + positives + negatives <= top_weight THEN 1
    WHEN positives_above + negatives_above >= top_weight THEN 0
    ELSE (top_weight - positives_above - negatives_above) / NULLIF(positives + negatives, 0)
  END
