-- strata: one row per group with its number, and with the weight of each class in the groups before it and up to it, as a number
-- of equal parts: sums of whole numbers are exact, so that one can be taken from another.
-- whole(): default rows: how many parts a weight is.
SELECT
  group_id,
  stratum,
  part,
  positive_parts,
  negative_parts,
  CAST(positive_parts AS DOUBLE) * part AS all_positives,
  CAST(negative_parts AS DOUBLE) * part AS all_negatives,
  all_rows,
  COALESCE(SUM(positive_parts) OVER (ORDER BY stratum ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS positives_from,
  COALESCE(SUM(negative_parts) OVER (ORDER BY stratum ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS negatives_from
FROM (
  SELECT
    group_id,
    ROW_NUMBER() OVER (ORDER BY group_id) AS stratum,
    1.0 / NULLIF(CAST(whole(1) AS DOUBLE), 0) AS part,
    positive_parts,
    all_parts - positive_parts AS negative_parts,
    all_rows
  FROM (
    SELECT
      group_id,
      COALESCE(SUM(CASE WHEN label = 1 THEN whole(weight) ELSE 0 END), 0) AS positive_parts,
      COALESCE(SUM(whole(weight)), 0) AS all_parts,
      COUNT(*) AS all_rows
    FROM predictions
    GROUP BY group_id
  ) AS added
) AS numbered
