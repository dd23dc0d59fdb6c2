-- f_by_hit: derivative of an average of F measures by the weight of the hits of a class, which has this divisor of F and share in their sum.
CREATE MACRO f_by_hit(beta, divisor, share, share_sum) AS (1 + beta * beta) * share / NULLIF(divisor, 0) / NULLIF(share_sum, 0)
