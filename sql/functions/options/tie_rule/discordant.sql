-- tie_rule: weight of ties that counts as concordant (1) or discordant (0): all of it as discordant.
CREATE MACRO tie_rule(tied, is_concordant) AS tied * (1 - is_concordant)
