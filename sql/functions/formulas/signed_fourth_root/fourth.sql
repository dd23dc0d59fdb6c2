-- signed_fourth_root: fourth root with the sign of the number, which keeps small differences visible next to large numbers.
-- Square roots keep the order of numbers when they are rounded.
CREATE MACRO signed_fourth_root(x) AS
  CASE WHEN CAST(x AS DOUBLE) < 0 THEN -SQRT(SQRT(-CAST(x AS DOUBLE))) ELSE SQRT(SQRT(CAST(x AS DOUBLE))) END
