-- cumulative_gains: one row per list, ranking (actual or ideal) and document with gain: rank, relevance, gains, their cumulative sums, DCG and IDCG.
-- Rows have no doc_id.
-- Cumulative sums of both rankings are taken over the common ranks, documents that were not retrieved last.
-- gain(): default linear: gain of a grade.
-- discount(): default log2: discount at a rank.
-- Grain: many per list_id
SELECT
  list_id,
  rank, -- position in its order, from 1; NULL if not retrieved
  gain, -- 0 in the ideal ranking
  ideal_gain, -- 0 in the ranked list
  is_last_of_grade, -- 1 at the last ideal rank of a gain, else 0
  relevance,
  list_length, -- documents in the list; NULL in the ideal ranking
  SUM(gain) OVER (
    PARTITION BY list_id ORDER BY CASE WHEN rank IS NULL THEN 1 ELSE 0 END, rank
  ) AS cumulative_gain, -- of the ranked list down to this rank
  SUM(CASE WHEN ideal_gain > 1 THEN ideal_gain - 1 ELSE 0 END) OVER (
    PARTITION BY list_id ORDER BY CASE WHEN rank IS NULL THEN 1 ELSE 0 END, rank
  ) AS ideal_excess_gain, -- ideal gain above 1, down to this rank
  SUM(discounted_gain) OVER (
    PARTITION BY list_id ORDER BY CASE WHEN rank IS NULL THEN 1 ELSE 0 END, rank
  ) AS dcg, -- of the ranked list down to this rank
  SUM(ideal_discounted_gain) OVER (
    PARTITION BY list_id ORDER BY CASE WHEN rank IS NULL THEN 1 ELSE 0 END, rank
  ) AS idcg -- of the ideal ranking down to this rank
FROM (
  -- one row per list, ranking (actual or ideal) and document
  SELECT
    ranking_gains.*,
    CASE WHEN rank IS NULL THEN 0 ELSE gain * discount(rank) END AS discounted_gain,
    CASE WHEN rank IS NULL THEN 0 ELSE ideal_gain * discount(rank) END AS ideal_discounted_gain
  FROM (
    -- one row per list, ranking (actual or ideal) and document
    SELECT
      list_id, rank,
      CASE WHEN rank IS NULL THEN 0 ELSE gain(relevance) END AS gain,
      0 AS ideal_gain,
      0 AS is_last_of_grade,
      relevance, list_length
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
      -- one row per list and document of the ideal ranking
      SELECT
        ideal_ranking.*,
        COALESCE(LEAD(gain(relevance)) OVER (PARTITION BY list_id ORDER BY ideal_rank), 0) AS next_gain
      FROM ideal_ranking
    ) AS ideal_gains
  ) AS ranking_gains
) AS discounted_ranks
