"""Trains the translators of chapters 01 and 09 and stores their weights: `make train`."""

from collections.abc import Callable
from functools import partial

import numpy as np
from torch import nn
from tqdm import tqdm

from attn_core import seq2seq, translation


def trained(name: str, steps: int, train: Callable[..., nn.Module]) -> nn.Module:
    with tqdm(total=steps, desc=f"{name:16}", unit="step") as bar:

        def report(step: int, loss: float) -> None:
            bar.set_postfix(loss=f"{loss:.4f}")
            bar.update()

        return train(report=report)


def main() -> None:
    for attends in (False, True):
        name = "with attention" if attends else "one fixed vector"
        model = trained(name, seq2seq.STEPS, partial(seq2seq.train, attends))
        file = seq2seq.weights_file(attends)
        file.parent.mkdir(exist_ok=True)
        weights = {name: weight.float().numpy() for name, weight in model.state_dict().items()}
        np.savez_compressed(file, **weights)
    translation.store(trained("Transformer", translation.STEPS, translation.train))
    for file in sorted(translation.WEIGHTS.parent.glob("*.npz")):
        print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
