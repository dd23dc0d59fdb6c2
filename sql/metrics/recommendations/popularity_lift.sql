-- PopularityLift: by how much lists are more popular than the histories of their users: the quotient of the mean popularities, less 1.
--     PopularityLift@k = mean popularity of lists / mean popularity of histories - 1
-- Users without a history are left out.
-- Use when: you want to see if a system recommends more popular items than users chose before.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Interval: none (users share documents)
-- Direction: neither.
-- Range: -1 to inf.
-- Undefined: no user has both a list that holds documents and a history.
-- Source: Abdollahpouri et al. 2019.
SELECT
  group_id,
  AVG(list_mean_popularity) / NULLIF(AVG(history_mean_popularity), 0) - 1 AS popularity_lift
FROM list_popularities
GROUP BY group_id
