"""Train the translators of chapters 01 and 09 and store their weights: `make train`."""

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


def main() -> None:
    for attends in (False, True):
        name = "with attention" if attends else "one fixed vector"
        model = trained(name, recurrent.STEPS, partial(recurrent.train, attends))
        training.store(model, recurrent.weights_name(attends))
    training.store(
        trained("Transformer", transformer.STEPS, transformer.train), transformer.WEIGHTS
    )
    for file in sorted(training.WEIGHTS.glob("*.npz")):
        print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
