-- bit_inversions: one row per group: the weight of its pairs that are in the same and in opposite order by label and by score.
-- Two places by label first differ in one bit: for every span, a power of two, the places are cut into parts of that length,
-- and each pair is in the two halves of one of them. It is in opposite order if what is in the upper half has the lower score.
-- Parts of all spans have different numbers.
-- Never zero: s.span.
SELECT
  group_id,
  SUM(upper_weight * lower_before) AS concordant,
  SUM(lower_weight * upper_before) AS discordant
FROM (
  SELECT
    group_id,
    lower_weight,
    upper_weight,
    COALESCE(SUM(lower_weight) OVER (
      PARTITION BY group_id, part ORDER BY score_place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS lower_before,
    COALESCE(SUM(upper_weight) OVER (
      PARTITION BY group_id, part ORDER BY score_place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS upper_before
  FROM (
    SELECT
      group_id,
      part,
      score_place,
      SUM(CASE WHEN half = 2 * part THEN weight ELSE 0 END) AS lower_weight,
      SUM(CASE WHEN half = 2 * part THEN 0 ELSE weight END) AS upper_weight
    FROM (
      SELECT
        o.group_id,
        o.score_place,
        o.weight,
        CAST(FLOOR((o.label_place + 1099511627776) / s.span) AS BIGINT) AS part,
        CAST(FLOOR(2 * (o.label_place + 1099511627776) / s.span) AS BIGINT) AS half
      FROM ordered AS o
      JOIN spans AS s ON s.span < 2 * o.labels
    ) AS cut
    GROUP BY group_id, part, score_place
  ) AS halves
) AS running
GROUP BY group_id
