-- cumulative_gains: one row per document of positive relevance in the ranked list and one per document of the ideal ranking, with cumulative gains.
-- The columns gain and ideal_gain say which of the two rankings a row belongs to; the other one is 0. Cumulative sums of both are
-- taken over the common ranks, documents that were not retrieved last.
-- gain(): default linear: gain of a grade.
-- discount(): default log2: discount at a rank.
-- Grain: many per list_id
SELECT
  list_id,
  rank,
  gain,
  ideal_gain,
  is_last_of_grade,
  relevance,
  list_length,
  SUM(gain) OVER (PARTITION BY list_id ORDER BY rank) AS cumulative_gain,
  SUM(CASE WHEN ideal_gain > 1 THEN ideal_gain - 1 ELSE 0 END) OVER (PARTITION BY list_id ORDER BY rank) AS ideal_excess_gain,
  SUM(discounted_gain) OVER (PARTITION BY list_id ORDER BY rank) AS dcg,
  SUM(discounted_ideal_gain) OVER (PARTITION BY list_id ORDER BY rank) AS idcg
FROM (
  SELECT
    list_id,
    rank,
    gain,
    ideal_gain,
    is_last_of_grade,
    relevance,
    list_length,
    gain * discount(rank) AS discounted_gain,
    ideal_gain * discount(rank) AS discounted_ideal_gain
  FROM (
    SELECT
      list_id,
      CASE WHEN rank IS NULL THEN 2147483646 ELSE rank END AS rank,
      CASE WHEN rank IS NULL THEN 0 ELSE gain(relevance) END AS gain,
      0 AS ideal_gain,
      0 AS is_last_of_grade,
      relevance,
      list_length
    FROM documents_with_gain
    UNION ALL
    SELECT
      list_id,
      ideal_rank AS rank,
      0 AS gain,
      CASE WHEN gain(relevance) > 0 THEN gain(relevance) ELSE 0 END AS ideal_gain,
      CASE WHEN gain(relevance) = next_gain OR gain(relevance) <= 0 THEN 0 ELSE 1 END AS is_last_of_grade,
      relevance,
      CAST(NULL AS BIGINT) AS list_length
    FROM (
      SELECT
        list_id,
        relevance,
        ideal_rank,
        COALESCE(LEAD(gain(relevance)) OVER (PARTITION BY list_id ORDER BY ideal_rank), 0) AS next_gain
      FROM ideal_ranking
    ) AS ideal
  ) AS both_lists
) AS discounted
