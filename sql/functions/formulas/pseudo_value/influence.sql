-- pseudo_value: value of a metric for one unit; the mean over all units is the metric, and their standard error is that of the metric.
-- Source: linearisation, Deng, Knoblich & Lu 2018, section 2.
CREATE MACRO pseudo_value(value, influence, units, positive_rows, all_positives, all_negatives) AS value + units * influence
