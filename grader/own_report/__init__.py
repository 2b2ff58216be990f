"""A student's own results over all labs, as one report: `labs report`."""
