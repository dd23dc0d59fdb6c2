-- normal_quantile: upper quantile of the normal distribution at the tail for which bound is SQRT(-2 ln tail), to 0.0005.
-- Nonzero: 1 + bound * (1.432788 + bound * (0.189269 + bound * 0.001308))
-- Source: Abramowitz & Stegun 26.2.23.
CREATE MACRO normal_quantile(bound) AS
  bound - (2.515517 + bound * (0.802853 + bound * 0.010328)) / (1 + bound * (1.432788 + bound * (0.189269 + bound * 0.001308)))
