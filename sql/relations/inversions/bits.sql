-- inversions: one row per list of more than 32 entries: the weight of its pairs that are in opposite order by label and by
-- score. Two places by label first differ in one bit: for every span, a power of two, the places are cut into parts of
-- that length, and a lower half meets what comes before it by score in its part but not in its half. What comes before it
-- in the half is what comes before it in a part of the span below, so that one running sum per part does for both.
SELECT
  list_id,
  SUM(weight * turn * weight_before) AS discordant
FROM (
  SELECT
    list_id,
    weight,
    turn,
    COALESCE(SUM(weight) OVER (
      PARTITION BY list_id, span, part ORDER BY score_place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS weight_before
  FROM (
    SELECT
      o.list_id,
      o.weight,
      o.score_place,
      s.span,
      CAST(FLOOR(o.label_place / s.span) AS BIGINT) AS part,
      CASE WHEN FLOOR(2 * o.label_place / s.span) = 2 * FLOOR(o.label_place / s.span) THEN 1 ELSE 0 END
        - CASE WHEN s.span < o.entries AND FLOOR(o.label_place / s.span) = 2 * FLOOR(o.label_place / (2 * s.span)) THEN 1 ELSE 0 END
        AS turn
    FROM ordered AS o
    JOIN spans AS s ON s.span < 2 * o.entries
  ) AS cut
) AS running
GROUP BY list_id
