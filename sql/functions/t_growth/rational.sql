-- t_growth: about (t / z)^2, of the t quantile at units - 1 degrees of freedom and the normal one; within 1.6 % from 3 on.
CREATE MACRO t_growth(units, above, below) AS (units - 1 + above) / NULLIF(units - 1 - below, 0)
