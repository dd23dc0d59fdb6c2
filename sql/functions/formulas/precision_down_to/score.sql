-- precision_down_to: precision of the predictions at a score and above it, by weight.
CREATE MACRO precision_down_to(positives, negatives, positives_above, negatives_above) AS
  (positives_above + positives) / NULLIF(positives_above + positives + negatives_above + negatives, 0)
