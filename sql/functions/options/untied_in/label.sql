-- untied_in: weight of pairs tied in score only, neither concordant nor discordant; those tied in label are ignored.
-- Somers' D then says how well labels explain scores.
CREATE MACRO untied_in(label_ties, score_ties) AS score_ties
