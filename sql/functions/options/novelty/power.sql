-- novelty: (1 - alpha)^num_above, the gain left after num_above documents of the subtopic (Clarke et al. 2008).
-- $alpha: number from 0 to 1, default 0.5: by how much a document of a subtopic reduces the gain of the next one.
CREATE MACRO novelty(num_above) AS CASE
  WHEN num_above = 0 THEN 1
  WHEN $alpha >= 1 THEN 0
  ELSE exp_or_zero(num_above * LN(CASE WHEN $alpha < 1 THEN 1 - $alpha ELSE 1 END))
END
