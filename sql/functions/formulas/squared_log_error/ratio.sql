-- squared_log_error: squared difference of ln(1 + score) and ln(1 + label), by the ratio of both; NULL where one is no logarithm.
-- Nonzero: 1 + label.
CREATE MACRO squared_log_error(label, score) AS
  LN(CASE WHEN label > -1 AND score > -1 THEN (1 + score) / (1 + label) END)
  * LN(CASE WHEN label > -1 AND score > -1 THEN (1 + score) / (1 + label) END)
