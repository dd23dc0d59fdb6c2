-- rare_row: weight of one more row of a cell, the mean of all rows, if the cell has fewer than five rows, else 0.
-- If all rows of a class are right, none of them says how the metric varies with this class. Five is the usual least count of a cell.
CREATE MACRO rare_row(cell_weight, total_weight, num_rows) AS CASE
  WHEN cell_weight * num_rows < 5 * total_weight THEN total_weight / NULLIF(num_rows, 0)
  ELSE 0
END
