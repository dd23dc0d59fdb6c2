-- rare_changes: one row per group, pair of systems and metric: the variance of rows that would change, where few rows of a label do, or all but few.
-- A row changes if it is right for one system and wrong for the other. None of 5 positives that changes is no evidence that none would: as in
-- Agresti and Min, half a row is added in each direction, and less the more do change, down to nothing at 5.
-- Source: Agresti & Min 2005; the decrease was chosen by simulation.
-- Grain: cell, pair, metric
SELECT
  cell, -- number of the group
  pair, metric,
  SUM(added_rows * effect * effect) AS squares, -- sum of squared influence of added rows
  SUM(added_rows * effect * effect * effect * effect) AS fourth_powers -- sum of the fourth powers of their influence
FROM (
  -- one row per group, pair of systems, metric and label of which few rows change, or all but few
  SELECT
    cell, pair, metric,
    SUM(num_rows * (ABS(baseline_flip) + ABS(system_flip))) / (2 * SUM(num_rows)) AS effect, -- of a row that changes on the difference
    1 - 0.2 * LEAST(SUM(num_changed), SUM(num_rows) - SUM(num_changed)) AS added_rows
  FROM (
    -- one row per group, pair of systems, metric with outcomes and row
    SELECT
      cell, pair, metric, flip_label, num_rows, baseline_flip, system_flip,
      CASE WHEN baseline_flip * system_flip < 0 THEN num_rows ELSE 0 END AS num_changed -- rows that are right for one system only
    FROM unit_differences
    WHERE baseline_flip IS NOT NULL AND system_flip IS NOT NULL
  ) AS outcomes
  GROUP BY cell, pair, metric, flip_label
  HAVING LEAST(SUM(num_changed), SUM(num_rows) - SUM(num_changed)) < 5
) AS changed_labels
GROUP BY cell, pair, metric
