-- window_days: one row per window and set of days in it.
-- Days that are in the same windows are one set, so that rows are summed by set first, and then once per window.
-- Grain: day_set, window_number
SELECT DISTINCT
  rollup_days.day_set, -- number of the set of days
  rollup_windows.window_number
FROM rollup_days
INNER JOIN rollup_windows
  ON rollup_windows.window_number BETWEEN rollup_days.first_window AND rollup_days.last_window
