-- untied_in: pairs tied in label are ignored, and pairs tied in score count as neither concordant nor discordant: how well labels explain scores.
CREATE MACRO untied_in(label_ties, score_ties) AS score_ties
