-- enlarged_se: standard error with what one more row of each cell of few rows would add.
CREATE MACRO enlarged_se(se, cell_squares) AS SQRT(se * se + cell_squares)
