-- compared: one row per positive and negative that a surrogate compares, with its reach: a negative of a higher score adds
-- the difference. Here all positives, each with the mean of their scores, and the $k highest negatives.
-- $k: integer from 1: how many negatives are compared.
-- $margin: number above 0, default 1: how far above a negative the mean of the positives has to stand.
SELECT
  group_id,
  label,
  score,
  place,
  positives,
  positives AS counted,
  CASE
    WHEN label = 1 THEN AVG(CASE WHEN label = 1 THEN score END) OVER (PARTITION BY group_id) - $margin
    ELSE score
  END AS reach
FROM rivals
WHERE label = 1 OR place <= $k
