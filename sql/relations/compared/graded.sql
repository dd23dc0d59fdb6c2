-- compared: one row per positive and negative that a surrogate compares, with its reach: a negative of a higher score adds
-- the difference. Here all positives, of which only the $k highest need a margin, and the $k highest negatives.
-- $k: integer from 1: how many negatives are compared, and how many positives have to stand a margin above them.
-- $margin: number above 0, default 1: how far above a negative those positives have to stand.
SELECT
  group_id,
  label,
  score,
  place,
  positives,
  CASE WHEN positives < $k THEN positives ELSE $k END AS counted,
  CASE WHEN label = 1 AND place <= $k THEN score - $margin ELSE score END AS reach
FROM rivals
WHERE label = 1 OR place <= $k
