-- label_squares: sum of squared deviations of the labels from their mean; NULL if all are equal, whose mean may be rounded.
CREATE MACRO label_squares(label, mean_label, weight) AS
  CASE WHEN MIN(label) < MAX(label) THEN SUM(weight * (label - mean_label) * (label - mean_label)) END
