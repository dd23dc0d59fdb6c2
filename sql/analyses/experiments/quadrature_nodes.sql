-- quadrature_nodes: one row per node of an integral: its position and weight.
-- Note: An integral from 0 up is the sum of weight times the integrand at node. The weight is the distance between nodes, which grows from almost 0 to 1.8.
-- The nodes are 4 * LN(1 + EXP(t)) of 100 equidistant numbers t.
-- Source: the trapezoidal rule, whose error falls as fast as any of such a substitution: Trefethen & Weideman 2014, section 14.
-- Grain: node
SELECT
  4 * LN(1 + EXP(0.45 * number - 31)) AS node,
  1.8 / (1 + EXP(31 - 0.45 * number)) AS weight
FROM UNNEST(GENERATE_SERIES(0, 99)) AS series(number)
