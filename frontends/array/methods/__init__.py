"""What Python and other packages call on arrays: operators, conversions, methods, inspection."""
