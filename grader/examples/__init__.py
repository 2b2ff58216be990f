"""Real submissions that show a pitfall, and those close to them that do not.

They are the lab folders with which the catalogue is tested. The site and the notebook show them.
"""
