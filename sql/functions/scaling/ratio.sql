-- scaling: 1 for the best order: the area divided by the most it can be.
-- Never zero: max_fpr.
CREATE MACRO scaling(area, max_fpr) AS area / max_fpr
