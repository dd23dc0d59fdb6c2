-- t_growth: about (t at units - 1 / normal quantile)^2; within 1.6 % from 4 units on.
CREATE MACRO t_growth(units, above, below) AS (units - 1 + above) / NULLIF(units - 1 - below, 0)
