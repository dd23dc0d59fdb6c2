-- sampling: records were drawn and their clusters resolved, so that a large cluster was drawn more probably.
CREATE MACRO sampling(records) AS 1 / NULLIF(records, 0)
