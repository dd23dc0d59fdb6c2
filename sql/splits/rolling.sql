-- A row for each fold that it is in: those before the fold's bound train, those from it to the next bound test.
SELECT g.*, $fold AS fold, CASE WHEN g.time < $bound THEN $first ELSE $second END AS split
FROM given AS g
WHERE g.time < $until
