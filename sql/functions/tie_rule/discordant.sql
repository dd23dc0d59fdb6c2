-- tie_rule: ties count as discordant (0).
CREATE MACRO tie_rule(tied, is_concordant) AS tied * (1 - is_concordant)
