-- inversions: rows per group of more than 32 predictions whose sums are the weight of its pairs that label and score put in the
-- same order, in opposite order, and of those tied in one of them only. Where all predictions weigh 1, DuckDB ranks each label
-- among those that come before it by score; of the others before it those of the same label are tied, the rest in the same
-- order. These are whole numbers, whose differences are exact.
SELECT
  group_id,
  concordant,
  discordant,
  0 AS score_ties,
  0 AS label_ties
FROM bit_inversions
UNION ALL
SELECT
  group_id,
  0 AS concordant,
  0 AS discordant,
  score_ties,
  label_ties
FROM tied_pairs
UNION ALL
SELECT
  group_id,
  SUM(score_rank - place - rank_in_label + 1) AS concordant,
  SUM(place - 1) AS discordant,
  SUM(both_rank - score_rank) AS score_ties,
  SUM(rank_in_label - 1) AS label_ties
FROM (
  SELECT
    p.group_id,
    RANK(ORDER BY p.label DESC) OVER (
      PARTITION BY p.group_id ORDER BY p.score, p.label ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS place,
    RANK() OVER (PARTITION BY p.group_id ORDER BY p.score, p.label) AS both_rank,
    RANK() OVER (PARTITION BY p.group_id ORDER BY p.score) AS score_rank,
    RANK() OVER (PARTITION BY p.group_id, p.label ORDER BY p.score) AS rank_in_label
  FROM sized AS p
  JOIN plain_lists AS l ON l.group_id = p.group_id
  WHERE p.predictions > 32 AND l.is_plain = 1
) AS ranked
GROUP BY group_id
