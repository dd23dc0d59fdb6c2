-- f_measure: F measure, in which recall counts beta times as much as precision; NULL without observed and predicted rows.
CREATE MACRO f_measure(beta, hits, observed, predicted) AS
  (1 + beta * beta) * hits / NULLIF(beta * beta * observed + predicted, 0)
