"""What an instructor does with a whole class, faster than one submission by one."""
