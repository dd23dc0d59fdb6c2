"""Draw results with Altair, and export charts to files without a network."""
