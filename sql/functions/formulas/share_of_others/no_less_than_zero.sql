-- share_of_others: share of the weight that is of other classes; 0, and no rounding error, if none is.
CREATE MACRO share_of_others(weight, total_weight) AS
  CASE WHEN weight < total_weight THEN 1 - weight / NULLIF(total_weight, 0) ELSE 0 END
