-- eta_flips: one row per group and change of the winner between two etas of a grid: the eta at which run and baseline are equal.
-- The difference is taken as linear between two etas of the grid without a tie.
-- Grain: many per group_id
SELECT
  group_id,
  eta + (next_eta - eta) * dcg_difference / NULLIF(dcg_difference - next_dcg_difference, 0) AS flip_eta -- where it is 0
FROM (
  -- one row per group and eta without a tie
  SELECT
    eta_differences.*,
    LEAD(eta) OVER (PARTITION BY group_id ORDER BY step) AS next_eta,
    LEAD(dcg_difference) OVER (PARTITION BY group_id ORDER BY step) AS next_dcg_difference
  FROM eta_differences
  WHERE dcg_difference <> 0
) AS neighboring_differences
WHERE dcg_difference * next_dcg_difference < 0
