-- cell_square: half the squared effect of one more row on a metric, from a derivative of the metric and the weight of the row.
-- The half is chosen by simulation, benchmarks/studies/interval_coverage.py.
CREATE MACRO cell_square(derivative, row_weight) AS derivative * row_weight * (derivative * row_weight) / 2
