-- sixteenth_root: sixteenth root, a scale that is fine near 0 like a logarithm.
-- IEEE 754 requires that square roots are rounded correctly. Unlike results of LN, they keep the order of their arguments on every
-- engine.
CREATE MACRO sixteenth_root(distance) AS SQRT(SQRT(SQRT(SQRT(distance))))
