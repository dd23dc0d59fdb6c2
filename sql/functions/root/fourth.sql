-- root: the fourth root with the sign of the number, under which what is small keeps its distances beside what is great. Square
-- roots keep the order of numbers when they are rounded.
CREATE MACRO root(x) AS
  CASE WHEN CAST(x AS DOUBLE) < 0 THEN -SQRT(SQRT(-CAST(x AS DOUBLE))) ELSE SQRT(SQRT(CAST(x AS DOUBLE))) END
