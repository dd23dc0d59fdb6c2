-- tie_rule: weight of ties that counts as concordant (1) or discordant (0): none of it.
CREATE MACRO tie_rule(tied, is_concordant) AS 0 * tied
