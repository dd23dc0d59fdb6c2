-- weight_before: weight of the rows of a group that come before one in order of weight.
CREATE MACRO weight_before(group_id, weight) AS
  COALESCE(SUM(weight) OVER (PARTITION BY group_id ORDER BY weight ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
