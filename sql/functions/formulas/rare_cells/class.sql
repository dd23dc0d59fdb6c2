-- rare_cells: squared effects of one more row in two cells of each class that has few, summed over the classes.
-- One is of rows that are right, which by_hit holds for too.
CREATE MACRO rare_cells(by_class, by_hit, hit_weight, other_weight) AS
  COALESCE(SUM(cell_square(by_class + by_hit, hit_weight) + cell_square(by_class, other_weight)), 0)
