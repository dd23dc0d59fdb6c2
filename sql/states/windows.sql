-- windows: which part of the days each window has. Days that are in the same windows are one part, so that rows are added up by part
-- first, and then once for each window.
SELECT DISTINCT
  d.part,
  w.window_number
FROM state_days AS d
INNER JOIN state_windows AS w ON w.window_number BETWEEN d.first_window AND d.last_window
