"""Random collections beside other tools, as many as there is time for."""
