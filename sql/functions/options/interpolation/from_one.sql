-- interpolation: area under straight lines between points, from precision 1 at recall 0, as in scikit-learn's curve.
CREATE MACRO interpolation(positives, negatives, positives_above, negatives_above) AS
  positives * (
    COALESCE(positives_above / NULLIF(positives_above + negatives_above, 0), 1)
    + (positives_above + positives) / NULLIF(positives_above + positives + negatives_above + negatives, 0)
  ) / 2
