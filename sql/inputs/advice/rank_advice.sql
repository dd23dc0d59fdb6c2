-- rank_advice: one row: what holds for ranks of which some list has others than 1, 2, 3 to its length.
-- A message suggests the words in the comment of each column whose condition holds for all lists. What is before the colon names the ranks for which ranks='given' is a choice.
-- Grain: one row
SELECT
  MIN(is_whole) = 1 AND MIN(least_rank) = 0 AND MAX(greatest_rank - documents) = -1 AS from_0, -- ranks begin at 0, so give {mapping}
  MIN(is_whole) = 1 AND MIN(least_rank) = 0 AND MAX(greatest_rank - documents) > -1 AS gaps_from_0, -- positions: ranks begin at 0 and have gaps, so give {mapping} and ranks='given'
  MIN(is_whole) = 1 AND MIN(least_rank) >= 1 AS gaps -- positions: ranks have gaps, so give ranks='given' to read them as positions
FROM (
  -- one row per query
  SELECT
    query_id,
    COUNT(*) AS documents,
    MIN(rank) AS least_rank,
    MAX(rank) AS greatest_rank,
    MIN(CASE WHEN rank = FLOOR(rank) THEN 1 ELSE 0 END) * (CASE WHEN COUNT(DISTINCT rank) = COUNT(*) THEN 1 ELSE 0 END) AS is_whole
  FROM run
  GROUP BY query_id
) AS lists
