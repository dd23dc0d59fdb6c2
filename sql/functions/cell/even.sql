-- cell: the number, even, of the cell of an axis that stands at this height: NULL is in the first, NaN in the last.
CREATE MACRO cell(height, last_cell) AS
  CASE
    WHEN height < last_cell THEN 2 * FLOOR(height)
    WHEN height IS NULL THEN 0
    ELSE 2 * last_cell
  END
