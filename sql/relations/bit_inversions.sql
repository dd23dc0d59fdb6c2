-- bit_inversions: one row per group: the weight of its pairs that are in opposite order by label and by score. Two places by
-- label first differ in one bit: for every span, a power of two, the places are cut into parts of that length, and what is
-- in the lower half of a part is in opposite order to what comes before it by score in the upper half, that is before it in
-- the part less before it in its half. Its half is a part of the span below, so that one running sum per part does for
-- both. Parts of all spans have different numbers.
SELECT
  group_id,
  SUM(weight * turn * weight_before) AS discordant
FROM (
  SELECT
    group_id,
    weight,
    CASE WHEN half = 2 * part THEN 1 ELSE 0 END - CASE WHEN span < entries AND part = 2 * FLOOR(part / 2) THEN 1 ELSE 0 END AS turn,
    COALESCE(SUM(weight) OVER (
      PARTITION BY group_id, part ORDER BY score_place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS weight_before
  FROM (
    SELECT
      o.group_id,
      o.weight,
      o.entries,
      o.score_place,
      s.span,
      CAST(FLOOR((o.label_place + 1099511627776) / s.span) AS BIGINT) AS part,
      CAST(FLOOR(2 * (o.label_place + 1099511627776) / s.span) AS BIGINT) AS half
    FROM ordered AS o
    JOIN spans AS s ON s.span < 2 * o.entries
  ) AS cut
) AS running
GROUP BY group_id
