-- interpolation: area under straight lines between points, with the precision of the first point at recall 0, as in Spark MLlib.
CREATE MACRO interpolation(positives, negatives, positives_above, negatives_above) AS
  positives * (
    COALESCE(
      positives_above / NULLIF(positives_above + negatives_above, 0),
      positives / NULLIF(positives + negatives, 0)
    )
    + precision_down_to(positives, negatives, positives_above, negatives_above)
  ) / 2
