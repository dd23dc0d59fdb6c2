-- t_growth: about (t / z)^2, t with units - 1 degrees of freedom, z normal; within 1.6 % from 4 units on.
CREATE MACRO t_growth(units, above, below) AS (units - 1 + above) / NULLIF(units - 1 - below, 0)
