-- interpolation: false positives grow with true positives between points (Davis & Goadrich 2006), as XGBoost. The mean
-- precision on the way is between that of the points: bend times the one before, the rest times that of what is added,
-- where bend is ln(1 + x) / x for x, what is added over what is above; for a small x its series.
CREATE MACRO interpolation(positives, negatives, positives_above, negatives_above) AS
  positives * (
    positives / NULLIF(positives + negatives, 0)
    + CASE
      WHEN positives_above + negatives_above > 0
        THEN (positives_above / NULLIF(positives_above + negatives_above, 0) - positives / NULLIF(positives + negatives, 0))
          * bend((positives + negatives) / NULLIF(positives_above + negatives_above, 0))
      ELSE 0
    END
  )
