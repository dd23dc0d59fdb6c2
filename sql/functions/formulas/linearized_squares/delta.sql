-- linearized_squares: sum of squares of value - ratio * denominator about its mean, from sums of squares and products of both.
-- Source: the delta method.
CREATE MACRO linearized_squares(value_squares, products, denominator_squares, ratio) AS
  value_squares - 2 * ratio * products + ratio * ratio * denominator_squares
