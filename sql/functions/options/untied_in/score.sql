-- untied_in: weight of pairs tied in label only, neither concordant nor discordant; those tied in score are ignored.
-- Somers' D then says how well scores explain labels.
CREATE MACRO untied_in(label_ties, score_ties) AS label_ties
