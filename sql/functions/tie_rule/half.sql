-- tie_rule: ties count half as concordant (1) and half as discordant (0).
CREATE MACRO tie_rule(tied, is_concordant) AS tied / 2
