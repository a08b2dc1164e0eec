"""English words that are near each other in meaning, as numbers learnt elsewhere: `flight` and `airport`."""
