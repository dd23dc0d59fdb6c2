-- interpolation: area between points; false positives grow linearly with true positives (Davis & Goadrich 2006), as in XGBoost.
-- The mean precision between the points is b times that of the predictions above, plus 1 - b times that of the predictions added,
-- where b is ln(1 + x) / x, and x the weight added over the weight above.
CREATE MACRO interpolation(positives, negatives, positives_above, negatives_above) AS
  positives * (
    positives / NULLIF(positives + negatives, 0)
    + CASE
      WHEN positives_above + negatives_above > 0
        THEN (positives_above / NULLIF(positives_above + negatives_above, 0) - positives / NULLIF(positives + negatives, 0))
          * log1p_ratio((positives + negatives) / NULLIF(positives_above + negatives_above, 0))
      ELSE 0
    END
  )
