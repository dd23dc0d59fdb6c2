-- RHR: reciprocal hit rank, the sum of 1 / rank over the relevant documents among the first k; its mean is ARHR.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- share(): default none: whether to divide by the best possible sum.
-- Undefined: a query without relevant documents.
-- Source: Deshpande & Karypis 2004; Apache Hivemall arhr.
-- Linear: in chance.
-- Never zero: hit.
SELECT
  list_id,
  share(
    SUM(CASE WHEN rank <= $k THEN chance / rank ELSE 0 END),
    SUM(CASE WHEN hit <= $k THEN docs / hit ELSE 0 END)
  ) AS rhr
FROM relevant
GROUP BY list_id
