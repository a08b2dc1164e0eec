"""Explore: a query, and what two profiles find for it."""

from toolsearch_app import controls

controls.show_title("Explore", "Ask as a model would, and see what two rankings find and why.")
controls.choose_data()
