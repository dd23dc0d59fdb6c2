-- EtaSweep: one row per group and eta, how fast attention decreases with the rank: ClickDCG of the run and the baseline, and the worth of clicks.
-- Means are over queries, without weights of the queries table.
-- Use when: you compare a ranking by clicks with the one that users saw, and don't know eta: does the winner depend on it?
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- discount(): default log2: discount at a rank.
-- Reads: previous run as baseline.
-- Undefined: without clicks, ess and clipped_share are NULL. If the same system wins for every eta, flips_at is.
-- Source: Joachims, Swaminathan & Schnabel 2017; rankkit sensitivity and crossover.
SELECT
  eta_differences.group_id,
  ROW_NUMBER() OVER (PARTITION BY eta_differences.group_id ORDER BY eta_differences.step) AS point, -- from eta 0 on
  eta_differences.eta,
  eta_differences.click_dcg, -- of the run
  eta_differences.baseline_click_dcg,
  eta_differences.dcg_difference, -- of the run from the baseline
  eta_differences.ess, -- clicks of equal weight that they are worth
  eta_differences.clipped_share, -- clicks of a weight above the limit
  first_flips.flips_at -- least eta at which the winner changes, the same in all rows
FROM eta_differences
LEFT JOIN (
  -- one row per group whose winner changes
  SELECT
    group_id,
    MIN(flip_eta) AS flips_at
  FROM eta_flips
  GROUP BY group_id
) AS first_flips ON first_flips.group_id = eta_differences.group_id
WHERE 10 * FLOOR(eta_differences.step / 10) = eta_differences.step
