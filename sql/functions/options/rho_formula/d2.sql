-- rho_formula: 1 - 6 * sum of d^2 / (n (n^2 - 1)), with the rank differences d; it is not exact under ties.
CREATE MACRO rho_formula(correlation, distance) AS 1 - distance
