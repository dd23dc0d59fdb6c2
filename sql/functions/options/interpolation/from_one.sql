-- interpolation: area under straight lines between points, from precision 1 at recall 0, as in scikit-learn's curve.
CREATE MACRO interpolation(positives, negatives, positives_above, negatives_above) AS
  positives * (
    COALESCE(positives_above / NULLIF(positives_above + negatives_above, 0), 1)
    + precision_down_to(positives, negatives, positives_above, negatives_above)
  ) / 2
