-- criterion: Youden's J, recall + specificity - 1.
CREATE MACRO criterion(tp, fp, tn, fn) AS
  tp / NULLIF(tp + fn, 0) + tn / NULLIF(tn + fp, 0) - 1
