-- scaling: 1 for the best order: the area divided by the most it can be.
CREATE MACRO scaling(area, max_fpr) AS area / max_fpr
