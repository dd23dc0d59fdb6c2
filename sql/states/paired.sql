-- paired: what each metric differs by between two sides without one fold at a time, which is left out of both. A side that has no rows of a
-- fold is whole without it.
SELECT
  f.group_number,
  f.metric_number,
  (CASE WHEN n.fold IS NULL THEN w.value_now ELSE n.value END)
  - (CASE WHEN t.fold IS NULL THEN w.value_then ELSE t.value END) AS value
FROM (
  SELECT DISTINCT group_number, metric_number, fold
  FROM (
    SELECT group_number, metric_number, fold FROM left_out_then
    UNION ALL
    SELECT group_number, metric_number, fold FROM left_out_now
  ) AS both_sides
) AS f
INNER JOIN whole AS w ON w.group_number = f.group_number AND w.metric_number = f.metric_number
LEFT JOIN left_out_then AS t ON t.group_number = f.group_number AND t.metric_number = f.metric_number AND t.fold = f.fold
LEFT JOIN left_out_now AS n ON n.group_number = f.group_number AND n.metric_number = f.metric_number AND n.fold = f.fold
