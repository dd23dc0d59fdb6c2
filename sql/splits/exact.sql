-- Each row by its place among the tickets of its stratum, as a share of these: parts of exact size, which change as rows come.
SELECT
  g.*,
  (ROW_NUMBER() OVER (PARTITION BY g.stratum ORDER BY SUBSTR(MD5($salt || CAST(g.key AS TEXT)), 1, 8), g.key) - 0.5)
  / COUNT(*) OVER (PARTITION BY g.stratum) AS split
FROM given AS g
