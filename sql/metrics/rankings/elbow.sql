-- Elbow: the cut-off from 1 to k at which the mean recall bends most.
-- At this cut-off, the mean recall is farthest above a straight line from the first cut-off to the last. Fewer documents lose much
-- recall, and more add little. This is Kneedle for a rising curve, without smoothing.
-- Use when: you choose how many documents to pass on, and recall grows ever more slowly.
-- $k: integer from 3 to 10000: the last cut-off.
-- Interval: none (it describes the data)
-- Direction: neither.
-- Range: 1 to inf.
-- Undefined: recall does not rise from the first cut-off to the last, or nowhere above the straight line.
-- Source: Satopaa, Albrecht, Irwin & Raghavan 2011.
SELECT
  group_id,
  MAX(CASE WHEN elbow_rank = 1 AND elbow_height > 0 THEN cutoff END) AS elbow
FROM recall_elbow
GROUP BY group_id
