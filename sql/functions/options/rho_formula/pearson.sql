-- rho_formula: Pearson correlation of the ranks.
CREATE MACRO rho_formula(correlation, distance) AS correlation
