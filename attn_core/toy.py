"""The book's sentences and their small tensors: data to read about, drawn from no generator."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class Sentence(NamedTuple):
    """Words and one vector for each: tokens (T of them), x [T, E]."""

    tokens: list[str]
    x: Float[Tensor, "T E"]


class ProjectedSentence(NamedTuple):
    """A sentence with three given matrices: w_query and w_key [E, D], w_value [E, Dv]."""

    tokens: list[str]
    x: Float[Tensor, "T E"]
    w_query: Float[Tensor, "E D"]
    w_key: Float[Tensor, "E D"]
    w_value: Float[Tensor, "E Dv"]


class Translation(NamedTuple):
    """Two sentences: what the Chinese pieces ask for [L, D], and the English states [S, D]."""

    chinese: list[str]
    queries: Float[Tensor, "L D"]
    english: list[str]
    states: Float[Tensor, "S D"]


def journey() -> Sentence:
    """Six words, "Your journey starts with one step", three numbers each.

    >>> journey().x[1]
    tensor([0.5500, 0.8700, 0.6600])

    The numbers are those of S. Raschka, "Build a Large Language Model (From Scratch)" (2024),
    chapter 3. Taught in chapter 03.
    """
    return Sentence(
        ["Your", "journey", "starts", "with", "one", "step"],
        torch.tensor(
            [
                [0.43, 0.15, 0.89],  # Your
                [0.55, 0.87, 0.66],  # journey
                [0.57, 0.85, 0.64],  # starts
                [0.22, 0.58, 0.33],  # with
                [0.77, 0.25, 0.10],  # one
                [0.05, 0.80, 0.55],  # step
            ]
        ),
    )


def notebook() -> Sentence:
    """笔记本, "notebook": three characters, five whole numbers each.

    >>> notebook().x[2]
    tensor([3., 2., 1., 1., 1.])

    Taught in chapter 04.
    """
    return Sentence(
        ["笔", "记", "本"],
        torch.tensor(
            [
                [1.0, 2.0, 1.0, 2.0, 1.0],  # 笔
                [1.0, 1.0, 1.0, 2.0, 1.0],  # 记
                [3.0, 2.0, 1.0, 1.0, 1.0],  # 本
            ]
        ),
    )


def three_tokens() -> ProjectedSentence:
    """爱学习, "love to study": 1010, 0202, 1111, and three matrices of small whole numbers.

    >>> sentence = three_tokens()
    >>> sentence.x @ sentence.w_key
    tensor([[0., 1., 1.],
            [4., 4., 0.],
            [2., 3., 1.]])

    Taught in chapter 04.
    """
    return ProjectedSentence(
        ["爱", "学", "习"],
        torch.tensor(
            [
                [1.0, 0.0, 1.0, 0.0],  # 爱
                [0.0, 2.0, 0.0, 2.0],  # 学
                [1.0, 1.0, 1.0, 1.0],  # 习
            ]
        ),
        torch.tensor([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0]]),
        torch.tensor([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]]),
        torch.tensor([[0.0, 2.0, 0.0], [0.0, 3.0, 0.0], [1.0, 0.0, 3.0], [1.0, 1.0, 0.0]]),
    )


def tom_and_jerry() -> Translation:
    """Tom chases Jerry → 汤姆 追逐 杰瑞 。: a query for each of four pieces, three states.

    >>> chinese, queries, english, states = tom_and_jerry()
    >>> queries @ states.T
    tensor([[ 2.,  0., -1.],
            [-4., -2., -3.],
            [ 0.,  2.,  5.],
            [ 0.,  0.,  0.]])

    The states are those of chapter 01's encoder that keeps half of its memory. Taught in chapter
    02.
    """
    return Translation(
        ["汤姆", "追逐", "杰瑞", "。"],
        torch.tensor(
            [
                [0.5, -0.5],  # 汤姆
                [-1.0, 0.0],  # 追逐
                [0.0, 1.0],  # 杰瑞
                [0.0, 0.0],  # 。
            ]
        ),
        ["Tom", "chases", "Jerry"],
        torch.tensor(
            [
                [4.0, 0.0],  # after Tom
                [2.0, 2.0],  # after chases
                [3.0, 5.0],  # after Jerry
            ]
        ),
    )
