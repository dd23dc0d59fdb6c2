-- no_unit_differs: TRUE for a share of units that are all alike: it has no standard error but for rounding, or is 0 or 1.
CREATE MACRO no_unit_differs(share, se) AS se <= 1e-12 OR share = 0 OR share = 1
