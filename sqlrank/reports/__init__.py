"""Write results of several calls as one HTML page."""
