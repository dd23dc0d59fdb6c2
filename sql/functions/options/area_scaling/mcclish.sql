-- area_scaling: the area scaled to 1 for the best and 0.5 for a random order (McClish 1989), as in scikit-learn.
-- Nonzero: max_fpr - max_fpr * max_fpr / 2.
CREATE MACRO area_scaling(area, max_fpr) AS
  (1 + (area - max_fpr * max_fpr / 2) / (max_fpr - max_fpr * max_fpr / 2)) / 2
