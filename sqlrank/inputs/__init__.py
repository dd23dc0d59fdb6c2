"""What is asked of: which column is which, which rows are read, and whether they are what metrics take them for."""
