"""The grades of a lab in the form that another system takes: CSV, Canvas, Moodle, Gradescope."""
