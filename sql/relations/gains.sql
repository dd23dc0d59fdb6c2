-- gains: the ranked list and the best possible one side by side: a row for each document of positive gain at its
-- rank (gain), and one at its place in the ideal order (ideal_gain), with the sums over both lists up to that position.
-- gain(): default linear: gain of a grade.
-- discount(): default log2: discount at a rank.
SELECT
  list_id,
  position,
  gain,
  ideal_gain,
  is_level_end,
  relevance,
  num_ret,
  SUM(gain) OVER (PARTITION BY list_id ORDER BY position) AS gain_so_far,
  SUM(CASE WHEN ideal_gain > 1 THEN ideal_gain - 1 ELSE 0 END) OVER (PARTITION BY list_id ORDER BY position) AS extra_cost,
  SUM(discounted_gain) OVER (PARTITION BY list_id ORDER BY position) AS dcg,
  SUM(discounted_ideal_gain) OVER (PARTITION BY list_id ORDER BY position) AS ideal_dcg
FROM (
  SELECT
    list_id,
    position,
    gain,
    ideal_gain,
    is_level_end,
    relevance,
    num_ret,
    gain * discount(position) AS discounted_gain,
    ideal_gain * discount(position) AS discounted_ideal_gain
  FROM (
    SELECT
      list_id,
      CASE WHEN rank IS NULL THEN 2147483646 ELSE rank END AS position,
      CASE WHEN rank IS NULL THEN 0 ELSE gain(relevance) END AS gain,
      0 AS ideal_gain,
      0 AS is_level_end,
      relevance,
      num_ret
    FROM valued
    UNION ALL
    SELECT
      list_id,
      ideal_rank AS position,
      0 AS gain,
      CASE WHEN gain(relevance) > 0 THEN gain(relevance) ELSE 0 END AS ideal_gain,
      CASE WHEN gain(relevance) = next_gain OR gain(relevance) <= 0 THEN 0 ELSE 1 END AS is_level_end,
      relevance,
      CAST(NULL AS BIGINT) AS num_ret
    FROM (
      SELECT
        list_id,
        relevance,
        ideal_rank,
        COALESCE(LEAD(gain(relevance)) OVER (PARTITION BY list_id ORDER BY ideal_rank), 0) AS next_gain
      FROM graded
    ) AS ideal
  ) AS both_lists
) AS discounted
