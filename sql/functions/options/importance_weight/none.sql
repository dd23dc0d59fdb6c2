-- importance_weight: the importance weight without a limit.
CREATE MACRO importance_weight(ratio) AS ratio
