"""Field reports: faults that users met, as cases that are run against the product."""
