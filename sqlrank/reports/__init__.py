"""Reports: results of several calls in one page, to be handed over."""
