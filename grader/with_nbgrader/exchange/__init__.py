"""What passes through nbgrader's exchange: submissions are collected, feedback is released."""
