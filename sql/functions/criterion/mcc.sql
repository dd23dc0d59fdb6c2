-- criterion: Matthews correlation coefficient.
CREATE MACRO criterion(tp, fp, tn, fn) AS
  (tp * tn - fp * fn) / NULLIF(SQRT(tp + fp) * SQRT(tp + fn) * SQRT(tn + fp) * SQRT(tn + fn), 0)
