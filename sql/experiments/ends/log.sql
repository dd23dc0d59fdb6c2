-- ends: where the interval of a lift ends, to either side of its logarithm.
SELECT
  CASE WHEN relative_reach < 200 / NULLIF(relative_se, 0) THEN (1 + relative) * EXP(-relative_reach * relative_se) - 1 END AS relative_low,
  CASE WHEN relative_reach < 200 / NULLIF(relative_se, 0) THEN (1 + relative) * EXP(relative_reach * relative_se) - 1 END AS relative_high
FROM reaching
