-- t_growth: squared t quantile at units - 1 degrees of freedom, over the squared normal one; from 3 on within 1.6 %.
CREATE MACRO t_growth(units, above, below) AS (units - 1 + above) / NULLIF(units - 1 - below, 0)
