-- capped: the ratio itself.
-- Default: this one.
CREATE MACRO capped(ratio) AS ratio
