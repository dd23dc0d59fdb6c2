-- capped: the importance weight without a limit.
CREATE MACRO capped(ratio) AS ratio
