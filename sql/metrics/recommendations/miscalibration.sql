-- Miscalibration: how far the categories of the first k documents are from those of the user's history.
--     Miscalibration = sum over categories of p ln(p / ((1 - alpha) q + alpha p))
-- p are shares of categories in the history, q those in the list.
-- An item of several categories has a part of each.
-- Use when: lists should have the mix of categories that the user's history has.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- $alpha: number above 0 to 1, default 0.01: what of p is mixed into q, so that a category that is missing is no infinity.
-- if_undefined(): default skip: value of a list for which it is undefined.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: a user without a history, or no document of list or history has a category.
-- Source: Steck 2018.
SELECT
  list_id,
  SUM(history_share * LN(history_share / NULLIF((1 - $alpha) * list_share + $alpha * history_share, 0))) AS miscalibration
FROM category_shares
GROUP BY list_id
