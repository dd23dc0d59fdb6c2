"""What users can see of a tree, recorded as texts, so that a change of the code is shown to change none of it."""
