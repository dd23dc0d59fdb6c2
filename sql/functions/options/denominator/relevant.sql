-- denominator: the number of relevant documents, retrieved or not.
CREATE MACRO denominator(cutoff, relevant, retrieved, hits) AS relevant
