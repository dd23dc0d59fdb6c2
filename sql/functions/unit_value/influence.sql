-- Value of a metric for one unit: the mean of these over all units is the metric, and their spread that of its standard error.
-- Default: this one.
-- Source: linearisation, Deng, Knoblich & Lu 2018, section 2.
CREATE MACRO unit_value(value, influence, units, positive_rows, all_positives, all_negatives) AS value + units * influence
