"""Triton's kernels, on a GPU when there is one and else in Triton's interpreter on the CPU."""

import os

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    # Read when triton is imported, and so before any test is.
    os.environ["TRITON_INTERPRET"] = "1"
