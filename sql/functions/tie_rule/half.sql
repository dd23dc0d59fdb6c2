-- tie_rule: half of them counts as concordant (1), half as discordant (0).
CREATE MACRO tie_rule(tied, is_concordant) AS tied / 2
