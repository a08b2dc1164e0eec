"""The figures of the README: measured, stored, written between marks, and checked.

`python -m toolsearch_eval.figures` measures, keeps what it measured in `docs/results.json` and rewrites the blocks
`<!-- figures:NAME -->` … `<!-- /figures -->` of the README; `--check` measures again and fails where README or stored
figures say something else. What counts as the same is decided in `block`: figures of quality must be equal, ratios of
times may differ by a factor of two, times themselves belong to the machine and are not compared.

`quality` measures rankings, `orders` and `semantic` put a model of sentence vectors among them, `speed` measures times,
`outputs` runs the commands of the Makefile whose output is shown, `examples` runs the README's own examples and renews
what stands under them.
`--only ablation` makes `docs/ablation.md` from what the package `ablation` measures, and keeps its data beside it.
"""
