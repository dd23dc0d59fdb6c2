-- t_growth: growth of the squared t quantile over the normal one, to 1 %.
CREATE MACRO t_growth(units, above, below) AS (units - 1 + above) / NULLIF(units - 1 - below, 0)
