-- pooling: the mean over queries.
CREATE MACRO pooling(of_pairs, of_queries, concordant, discordant) AS of_queries
