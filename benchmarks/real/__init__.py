"""Real models: pretrained files as published packages ship them, compared with onnxruntime and timed beside it.

`python -m benchmarks.real --help`. `table/` says which files; `packages` fetches, `made` makes those of converters.
"""
