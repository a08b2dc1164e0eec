"""Looking for better weights: a space of parameters, a study of trials, and a choice that holds on unseen queries."""
