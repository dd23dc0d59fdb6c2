-- criterion: Matthews correlation coefficient.
CREATE MACRO criterion(tp, fp, tn, fn) AS
  (tp / NULLIF(tp + fn, 0) * (tn / NULLIF(tn + fp, 0)) - fn / NULLIF(tp + fn, 0) * (fp / NULLIF(tn + fp, 0)))
  * SQRT((tp + fn) / NULLIF(tp + fp, 0) * ((tn + fp) / NULLIF(tn + fn, 0)))
