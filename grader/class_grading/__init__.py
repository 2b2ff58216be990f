"""What an instructor does with a whole class, faster than one by one."""
