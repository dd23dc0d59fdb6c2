-- discounted_gains: one row per document of positive relevance, with its discounted gain at its rank and at its rank in the ideal ranking.
-- Documents of negative gain have none in the ideal ranking.
-- gain(): default linear: gain of a grade.
-- discount(): default log2: discount at a rank.
-- Tie expectation: linear (in rank_probability)
-- Grain: rows of ideal_ranking
SELECT
  list_id,
  rank,
  ideal_rank,
  rank_probability * gain(relevance) * discount(rank) AS discounted_gain,
  CASE WHEN gain(relevance) > 0 THEN doc_count * gain(relevance) * discount(ideal_rank) ELSE 0 END AS ideal_discounted_gain
FROM ideal_ranking
