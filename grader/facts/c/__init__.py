"""What a student's C contains, by its syntax tree. The C is never built or run here."""
