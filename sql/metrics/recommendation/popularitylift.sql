-- PopularityLift: by how much lists are more popular than what their users had before: the quotient of the mean popularities, less 1.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- Users without a history are left out.
-- No interval: users share documents.
-- Undefined: no user has both a list that holds documents and a history.
-- Source: Abdollahpouri et al. 2019.
-- Better: neither.
SELECT
  group_id,
  AVG(users_of_list) / NULLIF(AVG(users_of_history), 0) - 1 AS popularitylift
FROM tastes
GROUP BY group_id
