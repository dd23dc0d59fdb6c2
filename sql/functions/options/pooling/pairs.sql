-- pooling: the value over all pairs of all queries.
CREATE MACRO pooling(of_pairs, of_queries, concordant, discordant) AS of_pairs
