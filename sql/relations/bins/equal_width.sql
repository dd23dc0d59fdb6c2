-- bins: one row per bin of equal width over [0, 1], with its weight and the sums of scores and labels in it. A score on
-- an edge belongs to the bin below; the product that finds a bin may be rounded across an edge, so the edges decide.
-- $bins: integer from 1 to 100000, default 10: number of bins.
SELECT
  group_id,
  bin,
  SUM(weight) AS weight,
  SUM(weight * score) AS predicted,
  SUM(weight * label) AS observed
FROM (
  SELECT
    group_id,
    label,
    score,
    weight,
    CASE
      WHEN score <= (near - 1) / $bins AND near > 1 THEN near - 1
      WHEN score > near / $bins AND near < $bins THEN near + 1
      ELSE near
    END AS bin
  FROM (
    SELECT
      group_id,
      label,
      score,
      weight,
      CASE WHEN score > 0 THEN -FLOOR(-score * $bins) ELSE 1 END AS near
    FROM predictions
  ) AS placed
) AS binned
GROUP BY group_id, bin
