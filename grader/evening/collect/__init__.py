"""Collects a class from a folder, a zip file, or what Canvas and Moodle hand out."""
