-- weight_in_top: weight of the rows of a score that are among the rows of the highest scores whose weight is top_weight.
-- It is all of it above the score at which these end, nothing below, and what still fits at that score.
CREATE MACRO weight_in_top(positives, negatives, positives_above, negatives_above, top_weight) AS
  CASE
    WHEN positives_above + negatives_above + positives + negatives > top_weight
      THEN CASE
        WHEN positives_above + negatives_above >= top_weight THEN 0
        ELSE top_weight - positives_above - negatives_above
      END
    ELSE positives + negatives
  END
