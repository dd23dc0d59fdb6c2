-- area_scaling: the area over the greatest possible area, 1 for the best order.
-- Nonzero: max_fpr.
CREATE MACRO area_scaling(area, max_fpr) AS area / max_fpr
