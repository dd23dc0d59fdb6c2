-- odds: the odds e^x of a logit x, within what a double and its reciprocal hold.
CREATE MACRO odds(x) AS EXP(CASE WHEN x > 700 THEN 700 WHEN x < -700 THEN -700 ELSE x END)
