"""What a run says of itself before anybody grades it: its warnings."""
