"""Are the figures right? They are compared with other tools, with each other and with the truth."""
