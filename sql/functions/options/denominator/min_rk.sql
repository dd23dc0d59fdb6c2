-- denominator: the smaller of the number of relevant documents and the cut-off, which is the greatest possible number of hits.
CREATE MACRO denominator(cutoff, relevant, retrieved, hits) AS CASE WHEN relevant < cutoff THEN relevant ELSE cutoff END
