-- sampling: true clusters were sampled with equal probability.
-- Default: this one.
CREATE MACRO sampling(records) AS 1
