-- share_sum: sum of the unnormalized shares of the classes of a group in the average of a value, of those that have one.
CREATE MACRO share_sum(group_id, value, share) AS SUM(CASE WHEN value IS NULL THEN 0 ELSE share END) OVER (PARTITION BY group_id)
