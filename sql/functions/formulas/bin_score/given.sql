-- bin_score: the score as it is.
CREATE MACRO bin_score(score) AS score
