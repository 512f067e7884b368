"""The experiments by name; nothing is imported for it, so that the help of the command line is quick."""

# Each experiment with the module of `paper`, and of `paper.figures`, that it lives in.
EXPERIMENTS = {
    "clusters": "clusters",
    "sparsity": "clusters",
    "clusters-sizes": "clusters_sizes",
    "sparsity-floor": "clusters_sizes",
    "sparsity-starts": "clusters_sizes",
    "strings": "strings",
    "strings-awake": "strings",
    "strings-sizes": "strings",
    "strings-generalise": "generalise",
    "strings-ablations": "generalise",
    "strings-memory": "strings_growth",
    "strings-concepts": "strings_growth",
    "characters": "characters",
    "characters-alphabets": "characters",
    "characters-generalise": "characters_generalise",
    "characters-hand": "characters_hand",
    "characters-shipped": "characters_hand",
    "characters-oneshot": "characters_oneshot",
    "timeseries": "timeseries",
    "timeseries-ucr": "timeseries",
    "m3": "m3",
    "automata": "automata",
    "automata-counts": "automata",
    "automata-unknown": "automata",
}
