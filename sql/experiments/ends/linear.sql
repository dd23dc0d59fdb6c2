-- ends: where the interval of a lift ends, to either side of it.
SELECT
  CASE WHEN relative_se > 0 THEN relative - relative_reach * relative_se END AS relative_low,
  CASE WHEN relative_se > 0 THEN relative + relative_reach * relative_se END AS relative_high
FROM reaching
