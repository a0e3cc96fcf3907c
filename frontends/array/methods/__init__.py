"""Methods that Python and other packages call on arrays: operators, conversions, methods, inspection."""
