-- denominator: the smaller of the number of retrieved documents and the cut-off.
CREATE MACRO denominator(cutoff, relevant, retrieved, hits) AS CASE WHEN retrieved < cutoff THEN retrieved ELSE cutoff END
