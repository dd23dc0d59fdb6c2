-- rest: what stands below, added up from the other end, so that light rows keep their digits beside heavy ones.
-- Default: this one.
CREATE MACRO rest(total, above, here, below) AS below
