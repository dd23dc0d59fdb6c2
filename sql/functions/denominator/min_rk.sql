-- The relevant documents, but at most the cut-off: the most that can be hit.
CREATE MACRO denominator(cutoff, relevant, retrieved, hits) AS CASE WHEN relevant < cutoff THEN relevant ELSE cutoff END
