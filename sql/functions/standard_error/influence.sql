-- Standard error of a metric, from how far each unit moves it; those numbers sum to 0.
-- Default: this one.
-- Source: linearisation, Deng, Knoblich & Lu 2018, section 2.
CREATE MACRO standard_error(influence, alike, label) AS SQRT(COUNT(influence) / NULLIF(COUNT(influence) - 1, 0) * SUM(influence * influence))
