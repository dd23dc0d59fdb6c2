-- NRBP: novelty- and rank-biased precision, for a reader who goes on with probability beta and whom a subtopic satisfies with alpha.
--     NRBP = (1 - (1 - alpha) beta) / subtopics * sum over i <= k , t of (1 - alpha)^(above(t, i)) beta^(i-1)
-- The sum is over the subtopics t of document i, and above(t, i) documents before it have the subtopic.
-- Full name: novelty- and rank-biased precision.
-- Use when: queries have several intents, and users lose patience document by document.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- $alpha: number from 0 to 1, default 0.5: by how much a document of a subtopic reduces the gain of the next one.
-- $beta: number above 0 to 1, default 0.5: patience, the probability of going on to the next document.
-- novelty(): default power: the gain of a document after others of its subtopic.
-- Range: 0 to 1.
-- Undefined: a query without a document that is relevant for a subtopic.
-- Source: Clarke, Kolla & Vechtomova 2009; ndeval NRBP.
SELECT
  list_id,
  (1 - (1 - $alpha) * $beta)
    * SUM(CASE WHEN rank <= $k THEN novelty(subtopic_hits - 1) * exp_or_zero((rank - 1) * LN($beta)) ELSE 0 END)
    / NULLIF(SUM(CASE WHEN subtopic_hits = 1 THEN 1 ELSE 0 END), 0) AS nrbp
FROM subtopic_ranks
GROUP BY list_id
