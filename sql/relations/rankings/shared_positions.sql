-- shared_positions: one row per list and document among the first k of both lists: its positions in both among these documents, without doc_id.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Grain: list_id, shared_position
SELECT
  list_id,
  ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY rank) AS shared_position, -- in the list, from 1
  ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY baseline_rank) AS baseline_position -- in the baseline's list, from 1
FROM baseline_overlap
WHERE rank <= $k AND baseline_rank <= $k
