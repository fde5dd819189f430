"""Trains the two translators of chapter 01 and stores their weights: `make train`."""

import numpy as np
from tqdm import tqdm

from attn_core.seq2seq import STEPS, train, weights_file


def main() -> None:
    for attends in (False, True):
        name = "with attention" if attends else "one fixed vector"
        with tqdm(total=STEPS, desc=f"{name:16}", unit="step") as bar:

            def report(step: int, loss: float, bar: tqdm = bar) -> None:
                bar.set_postfix(loss=f"{loss:.4f}")
                bar.update()

            model = train(attends, report=report)
        file = weights_file(attends)
        file.parent.mkdir(exist_ok=True)
        weights = {name: weight.float().numpy() for name, weight in model.state_dict().items()}
        np.savez_compressed(file, **weights)
        print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
