-- score_cell: even number of the cell at a position of the score axis; NULL is in the first cell, NaN in the last.
CREATE MACRO score_cell(height, last_cell) AS
  CASE
    WHEN height < last_cell THEN 2 * FLOOR(height)
    WHEN height IS NULL THEN 0
    ELSE 2 * last_cell
  END
