-- pooling: the pairs of all queries together.
CREATE MACRO pooling(of_pairs, of_queries, concordant, discordant) AS of_pairs
