"""The formgrader with a class of thousands: its lists by few queries."""
