-- scaling: the area itself.
CREATE MACRO scaling(area, max_fpr) AS area
