-- cell: the number, even and at most 2^61, of the cell of an axis that stands at this height: NULL is in the first, NaN in the
-- last.
CREATE MACRO cell(height) AS
  CASE
    WHEN height IS NULL THEN 0
    WHEN height < 1152921504606846976 THEN 2 * CAST(height AS BIGINT)
    ELSE 2305843009213693952
  END
