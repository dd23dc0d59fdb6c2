-- rare_cell: half the squared effect of one more row of a cell on a metric, if the cell has fewer than five rows, else 0.
-- If all rows of a class are right, none of them says how the metric varies with this class. The half is chosen by simulation,
-- benchmarks/interval_coverage.py; five is the usual least count of a cell. A row has the mean weight.
CREATE MACRO rare_cell(derivative, cell_weight, total_weight, num_rows) AS CASE
  WHEN cell_weight * num_rows < 5 * total_weight
    THEN derivative * (total_weight / NULLIF(num_rows, 0)) * (derivative * (total_weight / NULLIF(num_rows, 0))) / 2
  ELSE 0
END
