"""Floats as exact fractions, rounded once. Bits go in and come out."""

from fractions import Fraction

import ml_dtypes
import numpy as np

NAN, INF = "nan", "inf"


class Float:
    """A binary format with infinities and NaN, rounded to nearest even."""

    def __init__(self, exponent, mantissa):
        self.exponent, self.mantissa = exponent, mantissa
        self.width = 1 + exponent + mantissa
        self.bias = (1 << (exponent - 1)) - 1
        self.sign = 1 << (self.width - 1)
        self.infinity = ((1 << exponent) - 1) << mantissa
        self.nan = self.infinity | 1 << (mantissa - 1)

    def negative(self, bits):
        return bits & self.sign != 0

    def is_nan(self, bits):
        return bits & ~self.sign & ((1 << self.width) - 1) > self.infinity

    def is_inf(self, bits):
        return bits & ~self.sign & ((1 << self.width) - 1) == self.infinity

    def quiet(self, bits):
        return bits | 1 << (self.mantissa - 1)

    def value(self, bits):
        """The fraction that finite bits stand for."""
        exponent = bits >> self.mantissa & ((1 << self.exponent) - 1)
        rest = bits & ((1 << self.mantissa) - 1)
        if exponent:
            rest |= 1 << self.mantissa
        power = max(exponent, 1) - self.bias - self.mantissa
        value = Fraction(rest) * Fraction(2) ** power
        return -value if self.negative(bits) else value

    def bits(self, value, negative_zero=False, toward_zero=False):
        """The bits nearest to a fraction; ties to even."""
        if value == 0:
            return self.sign if negative_zero else 0
        sign, value = (self.sign, -value) if value < 0 else (0, value)
        top = value.numerator.bit_length() - value.denominator.bit_length()
        if Fraction(2) ** top > value:
            top -= 1
        power = max(top, 1 - self.bias) - self.mantissa
        scaled = value / Fraction(2) ** power
        whole = int(scaled) if toward_zero else round(scaled)
        code = whole + ((power + self.mantissa + self.bias - 1) << self.mantissa)
        if code >= self.infinity:
            code = self.infinity - 1 if toward_zero else self.infinity
        return sign | code

    def nan_of(self, *operands):
        for bits in operands:
            if self.is_nan(bits):
                return self.quiet(bits)
        return None

    def fma(self, a, b, c):
        nan = self.nan_of(a, b, c)
        if nan is not None:
            return nan
        negative = self.negative(a) != self.negative(b)
        if self.is_inf(a) or self.is_inf(b):
            zero = not (a & ~self.sign) or not (b & ~self.sign)
            if zero or self.is_inf(c) and self.negative(c) != negative:
                return self.nan
            return self.infinity | (self.sign if negative else 0)
        if self.is_inf(c):
            return c
        total = self.value(a) * self.value(b) + self.value(c)
        zeros = not self.value(a) * self.value(b) and not self.value(c)
        return self.bits(total, zeros and negative and self.negative(c))

    def add(self, a, b):
        one = self.bits(Fraction(1))
        return self.fma(a, one, b)

    def mul(self, a, b):
        nan = self.nan_of(a, b)
        if nan is not None:
            return nan
        negative = self.negative(a) != self.negative(b)
        if self.is_inf(a) or self.is_inf(b):
            return self.fma(a, b, 0)
        return self.bits(self.value(a) * self.value(b), negative)

    def neg(self, a):
        return a ^ self.sign

    def order(self, a, b):
        """-1, 0, 1, or None when there is no order."""
        if self.is_nan(a) or self.is_nan(b):
            return None
        x, y = self.key(a), self.key(b)
        return (x > y) - (x < y)

    def key(self, bits):
        size = bits & (self.sign - 1)
        return -size if self.negative(bits) else size

    def least(self, a, b, largest=False):
        """minNum and maxNum of IEEE mode: a number wins over a quiet NaN."""
        if self.is_nan(a):
            return b if not self.is_nan(b) else self.quiet(a)
        if self.is_nan(b):
            return a
        pick = self.order(a, b)
        if pick == 0:
            return a if self.negative(a) != largest else b
        return a if (pick < 0) != largest else b

    def integral(self, bits, how):
        """Rounds to a whole number: trunc, ceil, floor, rndne."""
        if self.is_nan(bits):
            return self.quiet(bits)
        if self.is_inf(bits):
            return bits
        value = self.value(bits)
        whole = {
            "trunc": int(value),
            "ceil": -(-value.numerator // value.denominator),
            "floor": value.numerator // value.denominator,
            "rndne": round(value),
        }[how]
        return self.bits(Fraction(whole), self.negative(bits))


F16, BF16, F32, F64 = Float(5, 10), Float(8, 7), Float(8, 23), Float(11, 52)


def convert(source, target, bits, toward_zero=False):
    """Bits of one format as bits of another."""
    sign = target.sign if source.negative(bits) else 0
    if source.is_nan(bits):
        shift = target.mantissa - source.mantissa
        rest = bits & ((1 << source.mantissa) - 1)
        rest = rest << shift if shift >= 0 else rest >> -shift
        return target.quiet(sign | target.infinity | rest)
    if source.is_inf(bits):
        return sign | target.infinity
    return target.bits(source.value(bits), sign != 0, toward_zero)


def integer(fmt, bits, low, high, how="trunc"):
    """A float as an integer, clamped; NaN is 0."""
    if fmt.is_nan(bits):
        return 0
    if fmt.is_inf(bits):
        return low if fmt.negative(bits) else high
    value = fmt.value(fmt.integral(bits, how))
    return max(low, min(high, int(value)))


SMALL = {
    "fp8": ml_dtypes.float8_e4m3fn,
    "bf8": ml_dtypes.float8_e5m2,
    "fp8fnuz": ml_dtypes.float8_e4m3fnuz,
    "bf8fnuz": ml_dtypes.float8_e5m2fnuz,
    "fp6": ml_dtypes.float6_e2m3fn,
    "bf6": ml_dtypes.float6_e3m2fn,
    "fp4": ml_dtypes.float4_e2m1fn,
}
WIDTH = {"fp8": 8, "bf8": 8, "fp6": 6, "bf6": 6, "fp4": 4}


def small_values(name):
    """What each code of a small format stands for, as f32."""
    codes = np.arange(1 << WIDTH[name[:3]], dtype=np.uint8)
    return codes.view(SMALL[name]).astype(np.float32)


def small_from(name, value):
    """The code nearest to a fraction (or NAN, INF with a sign)."""
    wide = np.array([value], dtype=np.float64).astype(np.float32)
    return int(wide.astype(SMALL[name]).view(np.uint8)[0])


def small_value(name, code):
    """A code as f32 bits."""
    return int(small_values(name)[code].view(np.uint32))


def signed(value, width):
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def unsigned(value, width):
    return value & ((1 << width) - 1)


def clamp(value, low, high):
    return max(low, min(high, value))
