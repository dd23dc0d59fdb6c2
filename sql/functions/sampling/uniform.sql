-- sampling: true clusters were drawn, each as probably as any other.
-- Default: this one.
CREATE MACRO sampling(records) AS 1
