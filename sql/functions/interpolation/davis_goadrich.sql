-- interpolation: false positives grow with true positives between points (Davis & Goadrich 2006), as XGBoost.
CREATE MACRO interpolation(positives, negatives, positives_above, negatives_above) AS
  CASE
    WHEN positives_above + negatives_above > 0 AND positives > 0
      THEN positives * positives / (positives + negatives)
        - (negatives_above - positives_above * negatives / positives)
          * positives * positives / ((positives + negatives) * (positives + negatives))
          * LN(
            CASE
              WHEN positives_above + negatives_above > 0
                THEN 1 + (positives + negatives) / (positives_above + negatives_above)
              ELSE 1
            END
          )
    ELSE positives * positives / NULLIF(positives + negatives, 0)
  END
