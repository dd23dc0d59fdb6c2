-- formula: 1 - 6 * sum of d^2 / (n (n^2 - 1)), with the differences d of the ranks; not exact under ties.
CREATE MACRO formula(correlation, distance) AS 1 - distance
