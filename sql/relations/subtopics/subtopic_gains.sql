-- subtopic_gains: one row per list, subtopic and relevant document: rank, hits of the subtopic, discounted gain, and greatest sum of gains.
-- Rows have no ids.
-- $k: integer from 1 to 10000: cut-off, the number of top-ranked documents of a list that count.
-- Grain: rows of subtopic_ranks
SELECT
  subtopic_ranks.list_id,
  subtopic_ranks.rank, -- NULL if not retrieved
  subtopic_ranks.subtopic_hits, -- relevant documents of the subtopic down to this rank
  novelty(subtopic_ranks.subtopic_hits - 1) * discount(subtopic_ranks.rank) AS subtopic_gain, -- NULL if not retrieved
  greatest_sums.greatest_sum -- of a subtopic of all first k documents
FROM subtopic_ranks
JOIN (
  -- one row per integer
  SELECT
    number,
    SUM(novelty(number - 1) * discount(number)) OVER (ORDER BY number) AS greatest_sum
  FROM numbers
) AS greatest_sums ON greatest_sums.number = $k
