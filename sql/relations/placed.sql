-- placed: one row per prediction with its bucket: the part of its cell that it falls in, numbered upwards.
SELECT
  h.list_id,
  h.label,
  h.score,
  h.weight,
  2000 * h.cell + CAST(CASE
    WHEN h.score = c.highest THEN c.parts
    WHEN h.score = c.lowest THEN 0
    WHEN c.highest - c.lowest > 1e300 THEN 1
    ELSE FLOOR(c.parts * ((h.score - c.lowest) / (c.highest - c.lowest)))
  END AS BIGINT) AS bucket
FROM heights AS h
JOIN cells AS c ON c.list_id = h.list_id AND c.cell = h.cell
