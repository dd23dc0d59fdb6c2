-- window_days: one row per window and set of days in it.
-- Days that are in the same windows are one set, so that rows are summed by set first, and then once per window.
-- Grain: part, window_number
SELECT DISTINCT
  d.part,
  w.window_number
FROM rollup_days AS d
INNER JOIN rollup_windows AS w ON w.window_number BETWEEN d.first_window AND d.last_window
