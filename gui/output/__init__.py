"""What leaves the window: pictures, models, Netron."""
