-- untied_in: pairs tied in score are ignored, and pairs tied in label count as neither concordant nor discordant: how well scores explain labels.
CREATE MACRO untied_in(label_ties, score_ties) AS label_ties
