-- discounted_gains: one row per list, judged document of positive relevance and rank that it may have: relevance, rank, ideal rank, and discounted gains.
-- Rows have no doc_id.
-- Documents of negative gain have none in the ideal ranking.
-- gain(): default linear: gain of a grade.
-- discount(): default log2: discount at a rank.
-- Tie expectation: linear (in rank_probability)
-- Grain: rows of ideal_ranking
SELECT
  list_id, relevance,
  rank, -- NULL if not retrieved
  ideal_rank,
  rank_probability * gain(relevance) * discount(rank) AS discounted_gain, -- NULL if not retrieved
  CASE
    WHEN gain(relevance) > 0 THEN doc_count * gain(relevance) * discount(ideal_rank)
    ELSE 0
  END AS ideal_discounted_gain -- 0 if the gain is negative
FROM ideal_ranking
