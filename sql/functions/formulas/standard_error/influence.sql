-- standard_error: standard error of the metric.
-- It is from the squared influence of its units, and influences sum to 0.
-- Units of influence NULL count, too, where they are units of the metric. A row that represents several units has as its influence the root
-- of the sum of their squared influences.
-- Source: linearisation, Deng, Knoblich & Lu 2018, section 2.
CREATE MACRO standard_error(squares, units, positive_squares, positives, negative_squares, negatives) AS
  SQRT(squares * units / NULLIF(units - 1, 0))
