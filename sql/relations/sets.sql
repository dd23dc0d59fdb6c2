-- sets: one row per list: how many documents were retrieved, are relevant, and are both.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Linear: in chance.
SELECT
  l.list_id,
  COALESCE(a.num_ret, 0) AS num_ret,
  COALESCE(j.num_judged_ret, 0) AS num_judged_ret,
  COALESCE(j.num_rel, 0) AS num_rel,
  COALESCE(j.num_rel_ret, 0) AS num_rel_ret,
  COALESCE(j.num_nonrel_judged_ret, 0) AS num_nonrel_judged_ret
FROM lists AS l
LEFT JOIN answers AS a ON a.list_id = l.list_id
LEFT JOIN (
  SELECT
    list_id,
    SUM(CASE WHEN rank IS NOT NULL AND relevance >= 0 THEN chance ELSE 0 END) AS num_judged_ret,
    SUM(CASE WHEN relevance >= $rel THEN docs ELSE 0 END) AS num_rel,
    SUM(CASE WHEN rank IS NOT NULL AND relevance >= $rel THEN chance ELSE 0 END) AS num_rel_ret,
    SUM(CASE WHEN rank IS NOT NULL AND relevance >= 0 AND relevance < $rel THEN chance ELSE 0 END) AS num_nonrel_judged_ret
  FROM judged
  GROUP BY list_id
) AS j ON j.list_id = l.list_id
