-- net_sum: sum of values of which some are subtracted again, 0 if it is no more than rounding errors, 1e-12 of the absolute values.
CREATE MACRO net_sum(value) AS CASE WHEN ABS(SUM(value)) <= 1e-12 * SUM(ABS(value)) THEN 0 ELSE SUM(value) END
