"""How a number is written: Python's own format is the rule, and where ours leaves it on purpose."""

import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_core.digits import fixed, plain, written

numbers = st.floats(allow_nan=False, allow_infinity=False)
common = st.floats(-10, 10, allow_subnormal=False) | st.integers(-9999, 9999).map(float)
ties = st.integers(-(10**6), 10**6).map(lambda n: n / 32) | st.integers(-999, 999).map(
    lambda n: n / 10**5 * 5
)


@pytest.mark.parametrize(
    ("x", "places", "text"),
    [
        (0.0, 4, "0.0000"),
        (-0.0, 4, "0.0000"),
        (1.0, 4, "1.0000"),
        (0.125, 2, "0.12"),
        (0.375, 2, "0.38"),
        (-0.125, 2, "-0.12"),
        (2.5, 0, "2"),
        (3.5, 0, "4"),
        (1.005, 2, "1.00"),
        (0.00005, 4, "0.0001"),
        (0.00004999, 4, "5.0e-05"),
        (-0.00001, 4, "-1.0e-05"),
        (6e-6, 4, "6.0e-06"),
        (5e-324, 4, "4.9e-324"),
        (6e-6, 6, "0.000006"),
        (6e-8, 6, "6.000e-08"),
        (999999.0, 4, "999999.0000"),
        (999999.99999, 4, "1000000.0000"),
        (1e6, 4, "1.0e+06"),
        (-1234567.0, 4, "-1.2e+06"),
        (1e22, 4, "1.0e+22"),
        (1e300, 4, "1.0e+300"),
        (1e6, 2, "1e+06"),
        (math.inf, 4, "inf"),
        (-math.inf, 4, "-inf"),
    ],
)
def test_fixed(x, places, text):
    assert fixed(x, places) == text


@settings(max_examples=500)
@given(numbers | common | ties, st.integers(0, 8))
def test_fixed_is_pythons_own_format_but_for_minus_zero_and_extremes(x, places):
    text, python = fixed(x, places), f"{x:.{places}f}"
    if x == 0:
        assert text == f"{0.0:.{places}f}"
    elif float(python) == 0 or abs(x) >= 1e6:
        assert text == f"{x:.{max(places - 3, 0)}e}"
        assert float(text) != 0
    else:
        assert text == python
    if abs(x) < 1e300:
        assert float(text) == pytest.approx(x, rel=0.5, abs=0.5 * 10.0**-places)


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (11.0, "11"),
        (-11.0, "-11"),
        (0.0, "0"),
        (-0.0, "0"),
        (100.0, "100"),
        (0.5, "0.5"),
        (0.43, "0.43"),
        (struct.unpack("f", struct.pack("f", 0.43))[0], "0.43"),
        (struct.unpack("f", struct.pack("f", 0.8701))[0], "0.8701"),
        (1 / 3, "0.3333"),
        (0.500000001, "0.5000"),
        (0.99999, "1.0000"),
        (6e-6, "6.0e-06"),
        (1e6, "1.0e+06"),
        (1e40, "1.0e+40"),
        (-math.inf, "-inf"),
        (math.inf, "inf"),
    ],
)
def test_plain(x, text):
    assert plain(x) == text


@settings(max_examples=300)
@given(numbers | common | ties)
def test_plain_is_fixed_without_idle_zeros(x):
    full, text = fixed(x), plain(x)
    assert full == text or full.startswith(text)
    assert float(full) == float(text)
    if text != full:
        single = struct.unpack("f", struct.pack("f", float(text)))[0]
        assert x in (float(text), single)
        assert not text.endswith((".", "-"))
        assert "." not in text or not text.endswith("0")


def test_places():
    assert plain(0.5, 1) == "0.5"
    assert plain(2.0, 0) == "2"
    assert plain(20.0, 0) == "20"
    assert plain(0.123456, 6) == "0.123456"


@pytest.mark.parametrize(
    ("x", "beside", "text"),
    [
        (1 / 3, 0.0, "0.3333"),
        (1 / 3, 999.9, "0.3333"),
        (1 / 3, -1000.0, "0.33333333"),
        (1 / 3, 99999.5, "0.333333333"),
        (1 / 3, 1e30, "0.33333333333"),
        (0.5, 1e6, "0.5"),
        (6.04e-6, 0.0, "6.0e-06"),
        (6.04e-6, 5000.0, "0.00000604"),
        (1e6, 0.0, "1000000"),
        (-1494999.98986, 0.0, "-1494999.9899"),
        (99999999999.5, 0.0, "99999999999.5"),
        (1e11, 0.0, "1e+11"),
        (-123456789012.25, 0.0, "-1.2345678901225e+11"),
        (1e22, 0.0, "1e+22"),
        (1.7976931348623157e308, 0.0, "1.7976931348623157e+308"),
        (math.inf, 0.0, "inf"),
        (-math.inf, 0.0, "-inf"),
        (-0.0, 0.0, "0"),
    ],
)
def test_written(x, beside, text):
    assert written(x, beside) == text


@settings(max_examples=300)
@given(common | ties)
def test_written_is_plain_below_a_million_and_beside_small_factors(x):
    if abs(x) < 1e6:
        assert written(x) == written(x, 999.0) == plain(x)


@settings(max_examples=300)
@given(numbers)
def test_from_a_hundred_thousand_millions_on_every_digit_is_written(x):
    if abs(x) >= 1e11:
        assert float(written(x)) == x
