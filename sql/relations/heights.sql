-- heights: one row per prediction with the cell of the score axis that it falls in. The axis is bent as by a logarithm at
-- 0 and at 1, where probabilities crowd, but by a sum of hyperbolas: unlike a logarithm, what is added, multiplied and
-- divided keeps its order when it is rounded, so that no score falls into a higher cell than a greater one.
SELECT
  list_id,
  label,
  score,
  weight,
  CAST(FLOOR(32 * (CASE WHEN score > 0 THEN from_zero WHEN score < 0 THEN -from_zero ELSE 0 END - to_one)) AS BIGINT) AS cell
FROM (
  SELECT
    list_id,
    label,
    score,
    weight,
    1 / (1 + 1e-30 * inverse) + 1 / (1 + 1e-27 * inverse) + 1 / (1 + 1e-24 * inverse) + 1 / (1 + 1e-21 * inverse)
      + 1 / (1 + 1e-18 * inverse) + 1 / (1 + 1e-15 * inverse) + 1 / (1 + 1e-12 * inverse) + 1 / (1 + 1e-9 * inverse)
      + 1 / (1 + 1e-6 * inverse) + 1 / (1 + 1e-3 * inverse) + 1 / (1 + inverse) + 1 / (1 + 1e3 * inverse)
      + 1 / (1 + 1e6 * inverse) + 1 / (1 + 1e9 * inverse) AS from_zero,
    CASE
      WHEN score >= 1 THEN 0
      WHEN score <= 0 THEN 5
      ELSE 1 / (1 + 1e-3 / (1 - score)) + 1 / (1 + 1e-6 / (1 - score)) + 1 / (1 + 1e-9 / (1 - score))
        + 1 / (1 + 1e-12 / (1 - score)) + 1 / (1 + 1e-15 / (1 - score))
    END AS to_one
  FROM (
    SELECT
      list_id,
      label,
      score,
      weight,
      CASE
        WHEN score > 1e-250 THEN 1 / score
        WHEN score < -1e-250 THEN -1 / score
        ELSE 1e250
      END AS inverse
    FROM predictions
  ) AS inverted
) AS bent
