-- tie_rule: weight of ties that counts as concordant (1) or discordant (0): half of it as each.
CREATE MACRO tie_rule(tied, is_concordant) AS tied / 2
