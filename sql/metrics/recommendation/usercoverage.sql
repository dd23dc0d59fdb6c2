-- UserCoverage: share of the users with a history who have a list that holds documents.
-- No interval: it describes the data.
-- Undefined: no history.
-- Unit: share of users.
-- Source: RecTools CoveredUsers.
SELECT
  group_id,
  MAX(covered) / NULLIF(MAX(readers), 0) AS usercoverage
FROM reached
GROUP BY group_id
