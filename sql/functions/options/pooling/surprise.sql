-- pooling: share of concordant pairs, from the mean number of each kind over the queries that have any, as in Surprise.
CREATE MACRO pooling(of_pairs, of_queries, concordant, discordant) AS CASE
  WHEN concordant IS NULL AND discordant IS NULL THEN NULL
  ELSE COALESCE(concordant, 0) / NULLIF(COALESCE(concordant, 0) + COALESCE(discordant, 0), 0)
END
