-- Variance of an area under a curve over area * (1 - area), of as many positives and negatives, if scores are exponential.
-- Source: Hanley & McNeil 1982, equation 2.
CREATE MACRO area_ratio(area, positives, negatives) AS
  (1 + (positives - 1) * area / NULLIF(1 + area, 0) + (negatives - 1) * (1 - area) / NULLIF(2 - area, 0))
    / NULLIF(positives * negatives, 0)
