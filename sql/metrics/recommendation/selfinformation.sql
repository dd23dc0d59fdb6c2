-- SelfInformation: how surprising a document is, -log2 of the share of users who had it, on the mean over the first k of a list.
--     A document that nobody had counts as if one user had.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- no_relevant(): default skip: what becomes of a list for which it is not defined.
-- Undefined: a list without documents, or no history.
-- Unit: bits.
-- Source: Zhou et al. 2010; RecTools MeanInvUserFreq. RePlay's Surprisal is divided by log2 of the number of users.
SELECT
  list_id,
  AVG(CASE WHEN rank <= $k THEN LN(readers / NULLIF(CASE WHEN users < 1 THEN 1 ELSE users END, 0)) END) / LN(2) AS selfinformation
FROM familiar
GROUP BY list_id
