-- interpolation: area under straight lines between points, with the precision of the first point at recall 0, as in Spark MLlib.
CREATE MACRO interpolation(positives, negatives, positives_above, negatives_above) AS
  positives * (
    COALESCE(
      positives_above / NULLIF(positives_above + negatives_above, 0),
      positives / NULLIF(positives + negatives, 0)
    )
    + (positives_above + positives) / NULLIF(positives_above + positives + negatives_above + negatives, 0)
  ) / 2
