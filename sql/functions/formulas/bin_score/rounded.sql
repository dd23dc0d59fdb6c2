-- bin_score: the score to 7 decimals, which tell scores of 32 bits apart: 0.6 is read as 0.60000002, above the limit of its bin.
CREATE MACRO bin_score(score) AS FLOOR(score * 10000000 + 0.5) / 10000000
