-- placed: one row of amounts with its bucket, numbered upwards: a cell, or, where it is crowded, a part of a cell, the narrower
-- the nearer it is to the mean of the crowd.
SELECT
  h.group_id,
  h.score,
  h.positives,
  h.squares,
  h.negatives,
  h.negative_squares,
  h.positive_rows,
  h.negative_rows,
  h.observed,
  h.tied_rows,
  131072 * h.cell + CAST(FLOOR(COALESCE(
    65536 + 65535 * (CASE WHEN h.place < c.centre THEN -1 ELSE 1 END) * crowding(ABS(h.place - c.centre)), 0
  )) AS BIGINT) AS bucket
FROM heights AS h
LEFT JOIN crowded AS c ON c.group_id = h.group_id AND c.cell = h.cell
