-- tie_rule: ties do not count.
CREATE MACRO tie_rule(tied, is_concordant) AS 0 * tied
