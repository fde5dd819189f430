"""Trains the translators of chapters 01 and 09 and stores their weights: `make train`.

`python -m tools.train_translators --stored` trains nothing: it stores the present weights again, in
the form that `training.store` has today. So they came from float32 to float16.
"""

import argparse
from collections.abc import Callable
from functools import partial

from torch import nn
from tqdm import tqdm

from attn_core.translators import recurrent, training, transformer


def trained(name: str, steps: int, train: Callable[..., nn.Module]) -> nn.Module:
    with tqdm(total=steps, desc=f"{name:16}", unit="step") as bar:

        def report(step: int, loss: float) -> None:
            bar.set_postfix(loss=f"{loss:.4f}")
            bar.update()

        return train(report=report)


def train_all() -> None:
    for attends in (False, True):
        name = "with attention" if attends else "one fixed vector"
        model = trained(name, recurrent.STEPS, partial(recurrent.train, attends))
        training.store(model, recurrent.weights_name(attends))
    training.store(
        trained("Transformer", transformer.STEPS, transformer.train), transformer.WEIGHTS
    )


def store_again() -> None:
    for attends in (False, True):
        training.store(recurrent.stored(attends), recurrent.weights_name(attends))
    training.store(transformer.stored(), transformer.WEIGHTS)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the translators and store their weights.")
    parser.add_argument("--stored", action="store_true", help="only store the present ones again")
    if parser.parse_args().stored:
        store_again()
    else:
        train_all()
    for file in sorted(training.WEIGHTS.glob("*.npz")):
        print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
