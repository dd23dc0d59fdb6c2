-- sampling: true clusters were sampled with equal probability.
CREATE MACRO sampling(records) AS 1
