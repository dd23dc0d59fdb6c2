-- criterion: Matthews correlation coefficient.
CREATE MACRO criterion(tp, fp, tn, fn) AS
  SQRT(tp / NULLIF(tp + fn, 0) * (tn / NULLIF(tn + fp, 0)) * (tp / NULLIF(tp + fp, 0)) * (tn / NULLIF(tn + fn, 0)))
  - SQRT(fn / NULLIF(tp + fn, 0) * (fp / NULLIF(tn + fp, 0)) * (fp / NULLIF(tp + fp, 0)) * (fn / NULLIF(tn + fn, 0)))
