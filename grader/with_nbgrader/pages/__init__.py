"""What instructors and students see of nbgrader: pages, texts of students, formulas, lists."""
