-- capped: the importance weight without a limit.
-- Default: this one.
CREATE MACRO capped(ratio) AS ratio
