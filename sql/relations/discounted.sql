-- discounted: one row per document of positive relevance with its gain discounted at its rank (discounted_gain) and at
-- its place in the best possible order (ideal_gain), which leaves out what has a gain below 0.
-- gain(): default linear: gain of a grade.
-- discount(): default log2: discount at a rank.
-- Linear: in chance.
SELECT
  list_id,
  rank,
  ideal_rank,
  chance * gain(relevance) * discount(rank) AS discounted_gain,
  CASE WHEN gain(relevance) > 0 THEN docs * gain(relevance) * discount(ideal_rank) ELSE 0 END AS ideal_gain
FROM graded
