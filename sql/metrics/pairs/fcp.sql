-- FCP: fraction of concordant pairs: of the pairs with different labels, those whose scores are in the same order.
--     FCP = (concordant + ties / 2) / (concordant + discordant + ties), ties of scores with different labels
-- Full name: fraction of concordant pairs.
-- Use when: ratings differ in scale between users and only their order counts.
-- level: default query: pairs are made within a query (a user).
-- tie_rule(): default half: what pairs with different labels and the same score count.
-- pooling(): default pairs: how queries are aggregated.
-- Interval: bootstrap (pairs are counted per group, and not per row)
-- Range: 0 to 1.
-- Undefined: no pair with different labels; by tie_rule=ignore none with different scores, either.
-- Unit: share of pairs.
-- Source: Koren & Sill 2013; Surprise accuracy.fcp is tie_rule=discordant, pooling=surprise.
SELECT
  group_id,
  pooling(
    -- of all pairs
    SUM(concordant + tie_rule(score_ties, 1)) / NULLIF(SUM(concordant + discordant + tie_rule(score_ties, 1) + tie_rule(score_ties, 0)), 0),
    -- mean over queries
    AVG(
      (concordant + tie_rule(score_ties, 1))
        / NULLIF(concordant + discordant + tie_rule(score_ties, 1) + tie_rule(score_ties, 0), 0)
    ),
    -- mean numbers of concordant and of discordant pairs, over queries that have any
    AVG(CASE WHEN concordant + tie_rule(score_ties, 1) > 0 THEN concordant + tie_rule(score_ties, 1) END),
    AVG(CASE WHEN discordant + tie_rule(score_ties, 0) > 0 THEN discordant + tie_rule(score_ties, 0) END)
  ) AS fcp
FROM pair_counts
GROUP BY group_id
