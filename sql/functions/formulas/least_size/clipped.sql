-- least_size: effective sample size, 1.5 at least.
CREATE MACRO least_size(size) AS CASE WHEN size > 1.5 THEN size ELSE 1.5 END
