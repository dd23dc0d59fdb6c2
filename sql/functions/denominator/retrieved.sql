-- The retrieved documents, but at most the cut-off.
CREATE MACRO denominator(cutoff, relevant, retrieved, hits) AS CASE WHEN retrieved < cutoff THEN retrieved ELSE cutoff END
