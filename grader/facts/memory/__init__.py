"""What a recording shows of the memory that was touched: its loads, its pages, its sets."""
