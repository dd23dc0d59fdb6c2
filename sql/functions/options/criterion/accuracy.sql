-- criterion: accuracy.
CREATE MACRO criterion(tp, fp, tn, fn) AS
  (tp + tn) / NULLIF(tp + fp + tn + fn, 0)
