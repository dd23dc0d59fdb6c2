-- class_mean: average of a value over the classes of a group, by shares of this sum.
CREATE MACRO class_mean(group_id, value, share, share_sum) AS SUM(share * value) OVER (PARTITION BY group_id) / NULLIF(share_sum, 0)
