-- SelfInformation: how surprising a document is, -log2 of the share of users with it in their history, averaged over the first k of a list.
--     SelfInformation@k = - mean over the first k documents d of log2(users with d / users)
-- A document that nobody had counts as if one user had.
-- Full name: self-information.
-- Use when: users should discover items that few others know.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- if_undefined(): default skip: value of a list for which it is undefined.
-- Range: 0 to inf.
-- Undefined: a list without documents, or no history.
-- Unit: bits.
-- Source: Zhou et al. 2010; RecTools MeanInvUserFreq. RePlay's Surprisal is divided by log2 of the number of users.
SELECT
  list_id,
  AVG(CASE WHEN rank <= $k THEN LN(total_users / NULLIF(greater(1, num_users), 0)) END) / LN(2) AS self_information
FROM recommendation_novelty
GROUP BY list_id
