-- misordered: one row per positive and negative compared, with the number of pairs it is part of that add to the surrogate.
-- A negative takes what is more: the lowest positives that it reaches above, or all of the
-- lowest and those of the highest that it reaches above.
SELECT
  group_id,
  label,
  score,
  reach,
  CASE
    WHEN label = 0 AND takes_all = 1 THEN all_lowest + highest - highest_above
    WHEN label = 0 THEN all_lowest - lowest_above
    WHEN is_lowest = 0 THEN takers_above
    ELSE all_takers + others_above
  END AS pairs,
  counted,
  all_negatives AS negatives
FROM (
  SELECT
    group_id,
    label,
    score,
    reach,
    counted,
    is_lowest,
    takes_all,
    all_negatives,
    all_lowest,
    lowest_above,
    highest,
    highest_above,
    SUM(takes_all) OVER (PARTITION BY group_id) AS all_takers,
    SUM(takes_all) OVER (
      PARTITION BY group_id ORDER BY reach DESC, label DESC, place DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS takers_above,
    SUM(1 - label - takes_all) OVER (
      PARTITION BY group_id ORDER BY reach DESC, label DESC, place DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS others_above
  FROM (
    SELECT
      group_id,
      label,
      score,
      place,
      reach,
      counted,
      is_lowest,
      all_negatives,
      all_lowest,
      lowest_above,
      highest,
      highest_above,
      CAST(CASE
        WHEN label = 1 THEN 0
        WHEN (all_lowest - lowest_above) * score - (lowest_sum - lowest_sum_above)
          > all_lowest * score - lowest_sum + (highest - highest_above) * score - (highest_sum - highest_sum_above) THEN 0
        ELSE 1
      END AS DOUBLE) AS takes_all
    FROM (
      SELECT
        group_id,
        label,
        score,
        place,
        reach,
        counted,
        is_lowest,
        SUM(1 - label) OVER (PARTITION BY group_id) AS all_negatives,
        SUM(is_lowest) OVER (PARTITION BY group_id) AS all_lowest,
        SUM(is_lowest * reach) OVER (PARTITION BY group_id) AS lowest_sum,
        SUM(label - is_lowest) OVER (PARTITION BY group_id) AS highest,
        SUM((label - is_lowest) * reach) OVER (PARTITION BY group_id) AS highest_sum,
        SUM(is_lowest) OVER (
          PARTITION BY group_id ORDER BY reach DESC, label DESC, place DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS lowest_above,
        SUM(is_lowest * reach) OVER (
          PARTITION BY group_id ORDER BY reach DESC, label DESC, place DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS lowest_sum_above,
        SUM(label - is_lowest) OVER (
          PARTITION BY group_id ORDER BY reach DESC, label DESC, place DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS highest_above,
        SUM((label - is_lowest) * reach) OVER (
          PARTITION BY group_id ORDER BY reach DESC, label DESC, place DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS highest_sum_above
      FROM (
        SELECT
          group_id,
          label,
          score,
          place,
          reach,
          counted,
          CAST(CASE WHEN label = 1 AND place > counted THEN 1 ELSE 0 END AS DOUBLE) AS is_lowest
        FROM compared
      ) AS halves
    ) AS running
  ) AS choices
) AS taken
