-- area_scaling: the area itself.
CREATE MACRO area_scaling(area, max_fpr) AS area
