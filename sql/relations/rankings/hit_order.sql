-- hit_order: one row per group and place of a list by its first hit, of those with relevant documents: rank of this hit, and the term of the place.
-- Lists without a hit come last. The term is the probability that of as many lists drawn at random fewer than the place have their first hit
-- below the quantile of all lists.
-- $q: number above 0 to 1, default 0.9: the share of the queries.
-- Tie expectation: none
-- Nonzero: place.
-- Grain: group_id, place
SELECT
  group_id,
  hit_rank, -- rank of the first hit, NULL without one
  place, -- position of the list by this rank, from 1
  num_lists, -- lists with relevant documents
  SUM(
    CASE
      WHEN log_term > -700 THEN EXP(log_term)
      ELSE 0
    END
  ) OVER (PARTITION BY group_id ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS bound_confidence -- probability that the quantile is not above this rank
FROM (
  -- one row per group and list with relevant documents
  SELECT
    ordered_lists.*,
    COALESCE(SUM(LN((num_lists - place + 1) / place)) OVER (
      PARTITION BY group_id ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) + (place - 1) * LN($q) + (num_lists - place + 1) * LN(NULLIF(1 - $q, 0)) AS log_term -- of exactly place - 1 lists among num_lists
  FROM (
    -- one row per group and list with relevant documents
    SELECT
      list_groups.group_id, first_hit_ranks.hit_rank,
      ROW_NUMBER() OVER (
        PARTITION BY list_groups.group_id ORDER BY CASE WHEN first_hit_ranks.hit_rank IS NULL THEN 1 ELSE 0 END, first_hit_ranks.hit_rank
      ) AS place,
      COUNT(*) OVER (PARTITION BY list_groups.group_id) AS num_lists
    FROM list_groups
    JOIN (
      -- one row per list with relevant documents
      SELECT
        list_id,
        MIN(rank) AS hit_rank
      FROM relevant_documents
      GROUP BY list_id
    ) AS first_hit_ranks
      ON first_hit_ranks.list_id = list_groups.list_id
  ) AS ordered_lists
) AS binomial_terms
