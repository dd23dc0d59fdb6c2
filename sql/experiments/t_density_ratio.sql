-- t_density_ratio: squared ratio of the density of Student's t, as a function of z, to the normal density; u is z * z / freedom.
-- With t * t = freedom * (EXP(u) - 1), the probability beyond t is an integral of EXP(-z * z / 2) * SQRT(bend) beyond z.
-- Grain: rows of heights
SELECT
  CASE
    WHEN u < 0.01 THEN 1 + u / 2 + u * u / 12 - u * u * u * u / 720
    WHEN u < 40 THEN u / NULLIF(1 - EXP(-u), 0)
    ELSE u
  END AS bend
FROM heights
