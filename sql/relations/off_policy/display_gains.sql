-- display_gains: one row per group and rank at which documents were shown: lists of the group, clicks there, and their gains in run and baseline.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- discount(): default log2: discount at a rank.
-- Tie expectation: none
-- Grain: group_id, display_rank
SELECT
  display_ranks.group_id, display_ranks.display_rank,
  group_list_counts.num_lists, -- lists of the group
  display_ranks.num_clicks, -- clicks on documents that were shown at this rank
  display_ranks.gain, -- sum of their discounts in the lists of the run
  display_ranks.baseline_gain -- sum of their discounts in the lists of the baseline
FROM (
  -- one row per group and rank at which documents were shown
  SELECT
    list_groups.group_id,
    clicks.rank AS display_rank,
    SUM(clicks.clicked) AS num_clicks,
    SUM(CASE WHEN ranked_documents.rank <= $k THEN clicks.clicked * discount(ranked_documents.rank) ELSE 0 END) AS gain,
    SUM(CASE WHEN baseline_ranks.baseline_rank <= $k THEN clicks.clicked * discount(baseline_ranks.baseline_rank) ELSE 0 END) AS baseline_gain
  FROM clicks
  JOIN ranked_lists ON ranked_lists.group_id = clicks.group_id AND ranked_lists.query_id = clicks.query_id
  JOIN list_groups ON list_groups.list_id = ranked_lists.list_id
  LEFT JOIN ranked_documents
    ON ranked_documents.list_id = ranked_lists.list_id AND ranked_documents.doc_id = clicks.doc_id
  LEFT JOIN baseline_ranks
    ON baseline_ranks.group_id = clicks.group_id
    AND baseline_ranks.query_id = clicks.query_id
    AND baseline_ranks.doc_id = clicks.doc_id
  GROUP BY list_groups.group_id, clicks.rank
) AS display_ranks
JOIN group_list_counts ON group_list_counts.group_id = display_ranks.group_id
