-- pooling: the mean over queries of their values.
CREATE MACRO pooling(of_pairs, of_queries, concordant, discordant) AS of_queries
