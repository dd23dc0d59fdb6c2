-- denominator: the number of relevant documents retrieved within the cut-off.
-- Tie expectation: none
CREATE MACRO denominator(cutoff, relevant, retrieved, hits) AS hits
