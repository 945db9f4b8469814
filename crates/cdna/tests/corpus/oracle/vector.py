"""VOP1, VOP2, VOP3, VOPC and VOP3P, by rows of result and source types."""

from fractions import Fraction

from floats import BF16, F16, F32, F64, clamp, convert, integer, signed, unsigned

M32 = 0xFFFFFFFF


def s32(x):
    return signed(x, 32)


def s16(x):
    return signed(x, 16)


def i24(x):
    return signed(x, 24)


def u24(x):
    return x & 0xFFFFFF


def mid(a, b, c):
    return sorted((a, b, c))[1]


def leading(x):
    return 32 - x.bit_length() if x else M32


def leading_sign(x):
    top = x >> 31
    return next((at for at in range(1, 32) if x >> (31 - at) & 1 != top), M32)


def bytes_of(x):
    return [x >> 8 * at & 0xFF for at in range(4)]


def sad(a, b, c):
    return c + sum(abs(x - y) for x, y in zip(bytes_of(a), bytes_of(b)))


def msad(a, b, c):
    return c + sum(abs(x - y) for x, y in zip(bytes_of(a), bytes_of(b)) if y)


def permuted(a, b, select):
    both = a << 32 | b
    out = 0
    for at, code in enumerate(bytes_of(select)):
        if code >= 13:
            byte = 0xFF
        elif code == 12:
            byte = 0
        elif code >= 8:
            byte = 0xFF if both >> (16 * (code - 8) + 15) & 1 else 0
        else:
            byte = both >> 8 * code & 0xFF
        out |= byte << 8 * at
    return out


def fma(fmt):
    return lambda a, b, c: fmt.fma(a, b, c)


def ldexp(fmt):
    def run(a, b):
        if fmt.is_nan(a):
            return fmt.quiet(a)
        if fmt.is_inf(a):
            return a
        return fmt.bits(fmt.value(a) * Fraction(2) ** signed(b, 32 if fmt is not F16 else 16), fmt.negative(a))

    return run


def fract(fmt):
    def run(a):
        if fmt.is_nan(a):
            return fmt.quiet(a)
        below = fmt.value(a) - (fmt.value(a).numerator // fmt.value(a).denominator)
        # Never 1: the largest number below it.
        return min(fmt.bits(below), fmt.bits(Fraction(1)) - 1)

    return run


def frexp(fmt):
    def run(a):
        if not fmt.value(a):
            return a, 0
        size = abs(fmt.value(a))
        power = size.numerator.bit_length() - size.denominator.bit_length()
        power += 1 if Fraction(2) ** power <= size else 0
        return fmt.bits(fmt.value(a) / Fraction(2) ** power), power

    return run


def cmp_class(fmt):
    def run(bits, mask):
        negative, size = fmt.negative(bits), bits & (fmt.sign - 1)
        if fmt.is_nan(bits):
            kind = 1 if bits >> (fmt.mantissa - 1) & 1 else 0
        elif fmt.is_inf(bits):
            kind = 2 if negative else 9
        elif size == 0:
            kind = 5 if negative else 6
        elif size >> fmt.mantissa == 0:
            kind = 4 if negative else 7
        else:
            kind = 3 if negative else 8
        return mask >> kind & 1

    return run


def norm(low, high, fmt):
    def run(a):
        if fmt.is_nan(a):
            return 0
        if fmt.is_inf(a):
            return low if fmt.negative(a) else high
        return clamp(round(fmt.value(a) * high), low, high) & 0xFFFF

    return run


def pack(low, high):
    return low & 0xFFFF | (high & 0xFFFF) << 16


def three(fmt, largest):
    return lambda a, b, c: fmt.least(fmt.least(a, b, largest), c, largest)


def median(fmt):
    def run(a, b, c):
        if any(map(fmt.is_nan, (a, b, c))):
            return fmt.least(fmt.least(a, b), c)
        return sorted((a, b, c), key=fmt.key)[1]

    return run


def extremes(fmt, largest):
    """The least or largest of three; a NaN wins, and -0 is below 0."""

    def run(*values):
        nan = fmt.nan_of(*values)
        if nan is not None:
            return nan
        order = [(fmt.key(x), -1 if fmt.negative(x) else 0) for x in values]
        return values[order.index(max(order) if largest else min(order))]

    return run


def cube(choose):
    """`choose` of the axis that is longest and of the coordinates."""

    def run(x, y, z):
        size = [abs(F32.value(at)) for at in (x, y, z)]
        axis = 2 if size[2] >= size[0] and size[2] >= size[1] else 1 if size[1] >= size[0] else 0
        return choose(axis, F32.value((x, y, z)[axis]) < 0, x, y, z)

    return run


I, U, F, D, H = "b32", "b32", "f32", "f64", "f16"
T = {
    # Integers.
    "v_mov_b32": (I, I, lambda a: a),
    "v_not_b32": (I, I, lambda a: ~a),
    "v_bfrev_b32": (I, I, lambda a: int(f"{a:032b}"[::-1], 2)),
    "v_ffbh_u32": (I, I, leading),
    "v_ffbl_b32": (I, I, lambda a: (a & -a).bit_length() - 1),
    "v_ffbh_i32": (I, I, leading_sign),
    "v_mul_i32_i24": (I, "b32 b32", lambda a, b: i24(a) * i24(b)),
    "v_mul_hi_i32_i24": (I, "b32 b32", lambda a, b: i24(a) * i24(b) >> 32),
    "v_mul_u32_u24": (I, "b32 b32", lambda a, b: u24(a) * u24(b)),
    "v_mul_hi_u32_u24": (I, "b32 b32", lambda a, b: u24(a) * u24(b) >> 32),
    "v_min_i32": (I, "b32 b32", lambda a, b: min(s32(a), s32(b))),
    "v_max_i32": (I, "b32 b32", lambda a, b: max(s32(a), s32(b))),
    "v_min_u32": (I, "b32 b32", min),
    "v_max_u32": (I, "b32 b32", max),
    "v_lshrrev_b32": (I, "b32 b32", lambda a, b: b >> (a & 31)),
    "v_ashrrev_i32": (I, "b32 b32", lambda a, b: s32(b) >> (a & 31)),
    "v_lshlrev_b32": (I, "b32 b32", lambda a, b: b << (a & 31)),
    "v_and_b32": (I, "b32 b32", lambda a, b: a & b),
    "v_or_b32": (I, "b32 b32", lambda a, b: a | b),
    "v_xor_b32": (I, "b32 b32", lambda a, b: a ^ b),
    "v_xnor_b32": (I, "b32 b32", lambda a, b: ~(a ^ b)),
    "v_add_u32": (I, "b32 b32", lambda a, b: a + b),
    "v_sub_u32": (I, "b32 b32", lambda a, b: a - b),
    "v_subrev_u32": (I, "b32 b32", lambda a, b: b - a),
    "v_add_co_u32": ("b32 mask", "b32 b32", lambda a, b: (a + b, a + b >> 32)),
    "v_sub_co_u32": ("b32 mask", "b32 b32", lambda a, b: (a - b, int(a < b))),
    "v_subrev_co_u32": ("b32 mask", "b32 b32", lambda a, b: (b - a, int(b < a))),
    "v_addc_co_u32": ("b32 mask", "b32 b32 mask", lambda a, b, c: (a + b + c, a + b + c >> 32)),
    "v_subb_co_u32": ("b32 mask", "b32 b32 mask", lambda a, b, c: (a - b - c, int(a < b + c))),
    "v_subbrev_co_u32": ("b32 mask", "b32 b32 mask", lambda a, b, c: (b - a - c, int(b < a + c))),
    "v_cndmask_b32": (I, "b32 b32 mask", lambda a, b, c: b if c else a),
    "v_mad_i32_i24": (I, "b32 b32 b32", lambda a, b, c: i24(a) * i24(b) + c),
    "v_mad_u32_u24": (I, "b32 b32 b32", lambda a, b, c: u24(a) * u24(b) + c),
    "v_bfe_u32": (I, "b32 b32 b32", lambda a, b, c: a >> (b & 31) & ((1 << (c & 31)) - 1)),
    "v_bfe_i32": (I, "b32 b32 b32", lambda a, b, c: signed(a >> (b & 31), c & 31) if c & 31 else 0),
    "v_bfi_b32": (I, "b32 b32 b32", lambda a, b, c: a & b | ~a & c),
    "v_lerp_u8": (I, "b32 b32 b32", lambda a, b, c: sum(
        ((x + y + (z & 1)) >> 1) << 8 * at
        for at, (x, y, z) in enumerate(zip(bytes_of(a), bytes_of(b), bytes_of(c))))),
    "v_alignbit_b32": (I, "b32 b32 b32", lambda a, b, c: (a << 32 | b) >> (c & 31)),
    "v_alignbyte_b32": (I, "b32 b32 b32", lambda a, b, c: (a << 32 | b) >> 8 * (c & 3)),
    "v_min3_i32": (I, "b32 b32 b32", lambda *x: min(map(s32, x))),
    "v_max3_i32": (I, "b32 b32 b32", lambda *x: max(map(s32, x))),
    "v_med3_i32": (I, "b32 b32 b32", lambda *x: mid(*map(s32, x))),
    "v_min3_u32": (I, "b32 b32 b32", min),
    "v_max3_u32": (I, "b32 b32 b32", max),
    "v_med3_u32": (I, "b32 b32 b32", mid),
    "v_sad_u8": (I, "b32 b32 b32", sad),
    "v_sad_hi_u8": (I, "b32 b32 b32", lambda a, b, c: (sad(a, b, 0) << 16) + c),
    "v_sad_u16": (I, "b32 b32 b32", lambda a, b, c: abs((a & 0xFFFF) - (b & 0xFFFF)) + abs((a >> 16) - (b >> 16)) + c),
    "v_sad_u32": (I, "b32 b32 b32", lambda a, b, c: abs(a - b) + c),
    "v_msad_u8": (I, "b32 b32 b32", msad),
    "v_qsad_pk_u16_u8": ("b64", "b64 b32 b64", lambda a, b, c: sum(
        (sad(a >> 8 * at & M32, b, c >> 16 * at & 0xFFFF) & 0xFFFF) << 16 * at for at in range(4))),
    "v_mqsad_pk_u16_u8": ("b64", "b64 b32 b64", lambda a, b, c: sum(
        (msad(a >> 8 * at & M32, b, c >> 16 * at & 0xFFFF) & 0xFFFF) << 16 * at for at in range(4))),
    "v_mqsad_u32_u8": ("b128", "b64 b32 b128", lambda a, b, c: sum(
        (msad(a >> 8 * at & M32, b, c >> 32 * at & M32) & M32) << 32 * at for at in range(4))),
    "v_mad_u64_u32": ("b64 mask", "b32 b32 b64", lambda a, b, c: (a * b + c, a * b + c >> 64)),
    "v_perm_b32": (I, "b32 b32 b32", permuted),
    "v_mad_u32_u16": (I, "b16 b16 b32", lambda a, b, c: a * b + c),
    "v_mad_i32_i16": (I, "b16 b16 b32", lambda a, b, c: s16(a) * s16(b) + c),
    "v_xad_u32": (I, "b32 b32 b32", lambda a, b, c: (a ^ b) + c),
    "v_lshl_add_u32": (I, "b32 b32 b32", lambda a, b, c: (a << (b & 31)) + c),
    "v_add_lshl_u32": (I, "b32 b32 b32", lambda a, b, c: (a + b) << (c & 31)),
    "v_add3_u32": (I, "b32 b32 b32", lambda a, b, c: a + b + c),
    "v_lshl_or_b32": (I, "b32 b32 b32", lambda a, b, c: a << (b & 31) | c),
    "v_and_or_b32": (I, "b32 b32 b32", lambda a, b, c: a & b | c),
    "v_or3_b32": (I, "b32 b32 b32", lambda a, b, c: a | b | c),
    "v_lshl_add_u64": ("b64", "b64 b32 b64", lambda a, b, c: (a << (b & 7)) + c),
    "v_add_i32": (I, "b32 b32", lambda a, b: a + b),
    "v_sub_i32": (I, "b32 b32", lambda a, b: a - b),
    "v_mul_lo_u32": (I, "b32 b32", lambda a, b: a * b),
    "v_mul_hi_u32": (I, "b32 b32", lambda a, b: a * b >> 32),
    "v_mul_hi_i32": (I, "b32 b32", lambda a, b: s32(a) * s32(b) >> 32),
    "v_bcnt_u32_b32": (I, "b32 b32", lambda a, b: bin(a).count("1") + b),
    "v_lshlrev_b64": ("b64", "b32 b64", lambda a, b: b << (a & 63)),
    "v_lshrrev_b64": ("b64", "b32 b64", lambda a, b: b >> (a & 63)),
    "v_ashrrev_i64": ("b64", "b32 b64", lambda a, b: signed(b, 64) >> (a & 63)),
    "v_bfm_b32": (I, "b32 b32", lambda a, b: ((1 << (a & 31)) - 1) << (b & 31)),
    "v_cvt_pk_u16_u32": (I, "b32 b32", lambda a, b: pack(min(a, 0xFFFF), min(b, 0xFFFF))),
    "v_cvt_pk_i16_i32": (I, "b32 b32", lambda a, b: pack(*(clamp(s32(x), -32768, 32767) for x in (a, b)))),
    "v_mov_b64": ("b64", "b64", lambda a: a),
    "v_sat_pk_u8_i16": (I, I, lambda a: clamp(s16(a), 0, 255) | clamp(s16(a >> 16), 0, 255) << 8),
    # 16-bit integers.
    "v_add_u16": ("b16", "b16 b16", lambda a, b: a + b & 0xFFFF),
    "v_sub_u16": ("b16", "b16 b16", lambda a, b: a - b & 0xFFFF),
    "v_mul_lo_u16": ("b16", "b16 b16", lambda a, b: a * b & 0xFFFF),
    "v_lshlrev_b16": ("b16", "b16 b16", lambda a, b: b << (a & 15) & 0xFFFF),
    "v_lshrrev_b16": ("b16", "b16 b16", lambda a, b: b >> (a & 15)),
    "v_ashrrev_i16": ("b16", "b16 b16", lambda a, b: s16(b) >> (a & 15) & 0xFFFF),
    "v_max_u16": ("b16", "b16 b16", max),
    "v_min_u16": ("b16", "b16 b16", min),
    "v_max_i16": ("b16", "b16 b16", lambda a, b: max(s16(a), s16(b)) & 0xFFFF),
    "v_min_i16": ("b16", "b16 b16", lambda a, b: min(s16(a), s16(b)) & 0xFFFF),
    "v_min3_i16": ("b16", "b16 b16 b16", lambda *x: min(map(s16, x)) & 0xFFFF),
    "v_max3_i16": ("b16", "b16 b16 b16", lambda *x: max(map(s16, x)) & 0xFFFF),
    "v_med3_i16": ("b16", "b16 b16 b16", lambda *x: mid(*map(s16, x)) & 0xFFFF),
    "v_min3_u16": ("b16", "b16 b16 b16", min),
    "v_max3_u16": ("b16", "b16 b16 b16", max),
    "v_med3_u16": ("b16", "b16 b16 b16", mid),
    "v_mad_u16": ("b16", "b16 b16 b16", lambda a, b, c: a * b + c & 0xFFFF),
    "v_mad_i16": ("b16", "b16 b16 b16", lambda a, b, c: a * b + c & 0xFFFF),
    "v_add_i16": ("b16", "b16 b16", lambda a, b: a + b & 0xFFFF),
    "v_sub_i16": ("b16", "b16 b16", lambda a, b: a - b & 0xFFFF),
    # f32.
    "v_add_f32": (F, "f32 f32", F32.add),
    "v_sub_f32": (F, "f32 f32", lambda a, b: F32.add(a, F32.neg(b))),
    "v_subrev_f32": (F, "f32 f32", lambda a, b: F32.add(b, F32.neg(a))),
    "v_mul_f32": (F, "f32 f32", F32.mul),
    "v_mul_legacy_f32": (F, "f32 f32", lambda a, b: 0 if not a & 0x7FFFFFFF or not b & 0x7FFFFFFF else F32.mul(a, b)),
    "v_min_f32": (F, "f32 f32", F32.least),
    "v_max_f32": (F, "f32 f32", lambda a, b: F32.least(a, b, True)),
    "v_fma_f32": (F, "f32 f32 f32", fma(F32)),
    "v_fmac_f32": (F, "f32 f32 old", fma(F32)),
    "v_fmamk_f32": (F, "f32 f32 f32", fma(F32)),
    "v_fmaak_f32": (F, "f32 f32 f32", fma(F32)),
    "v_min3_f32": (F, "f32 f32 f32", three(F32, False)),
    "v_max3_f32": (F, "f32 f32 f32", three(F32, True)),
    "v_med3_f32": (F, "f32 f32 f32", median(F32)),
    "v_fract_f32": (F, F, fract(F32)),
    "v_ldexp_f32": (F, "f32 b32", ldexp(F32)),
    "v_frexp_mant_f32": (F, F, lambda a: frexp(F32)(a)[0]),
    "v_frexp_exp_i32_f32": (I, F, lambda a: frexp(F32)(a)[1]),
    "v_minimum3_f32": (F, "f32 f32 f32", extremes(F32, False)),
    "v_maximum3_f32": (F, "f32 f32 f32", extremes(F32, True)),
    "v_cubeid_f32": (F, "f32 f32 f32", cube(lambda axis, below, x, y, z: F32.bits(Fraction(2 * axis + below)))),
    "v_cubesc_f32": (F, "f32 f32 f32", cube(lambda axis, below, x, y, z: (
        (z if below else F32.neg(z)), x, (F32.neg(x) if below else x))[axis])),
    "v_cubetc_f32": (F, "f32 f32 f32", cube(lambda axis, below, x, y, z: (
        F32.neg(y), (F32.neg(z) if below else z), F32.neg(y))[axis])),
    "v_cubema_f32": (F, "f32 f32 f32", cube(lambda axis, below, x, y, z: F32.mul((x, y, z)[axis], 0x40000000))),
    # f64.
    "v_add_f64": (D, "f64 f64", F64.add),
    "v_mul_f64": (D, "f64 f64", F64.mul),
    "v_min_f64": (D, "f64 f64", F64.least),
    "v_max_f64": (D, "f64 f64", lambda a, b: F64.least(a, b, True)),
    "v_fma_f64": (D, "f64 f64 f64", fma(F64)),
    "v_fmac_f64": (D, "f64 f64 old", fma(F64)),
    "v_ldexp_f64": (D, "f64 b32", ldexp(F64)),
    "v_fract_f64": (D, D, fract(F64)),
    "v_frexp_mant_f64": (D, D, lambda a: frexp(F64)(a)[0]),
    "v_frexp_exp_i32_f64": (I, D, lambda a: frexp(F64)(a)[1]),
    # f16.
    "v_add_f16": (H, "f16 f16", F16.add),
    "v_sub_f16": (H, "f16 f16", lambda a, b: F16.add(a, F16.neg(b))),
    "v_mul_f16": (H, "f16 f16", F16.mul),
    "v_min_f16": (H, "f16 f16", F16.least),
    "v_max_f16": (H, "f16 f16", lambda a, b: F16.least(a, b, True)),
    "v_fma_f16": (H, "f16 f16 f16", fma(F16)),
    "v_min3_f16": (H, "f16 f16 f16", three(F16, False)),
    "v_max3_f16": (H, "f16 f16 f16", three(F16, True)),
    "v_med3_f16": (H, "f16 f16 f16", median(F16)),
    "v_ldexp_f16": (H, "f16 b16", ldexp(F16)),
    "v_fract_f16": (H, H, fract(F16)),
    "v_pack_b32_f16": (I, "f16 f16", pack),
    # Conversions between the wide formats.
    "v_cvt_f32_i32": (F, I, lambda a: F32.bits(Fraction(s32(a)))),
    "v_cvt_f32_u32": (F, I, lambda a: F32.bits(Fraction(a))),
    "v_cvt_f64_i32": (D, I, lambda a: F64.bits(Fraction(s32(a)))),
    "v_cvt_f64_u32": (D, I, lambda a: F64.bits(Fraction(a))),
    "v_cvt_u32_f32": (I, F, lambda a: integer(F32, a, 0, M32)),
    "v_cvt_i32_f32": (I, F, lambda a: integer(F32, a, -(1 << 31), (1 << 31) - 1)),
    "v_cvt_u32_f64": (I, D, lambda a: integer(F64, a, 0, M32)),
    "v_cvt_i32_f64": (I, D, lambda a: integer(F64, a, -(1 << 31), (1 << 31) - 1)),
    "v_cvt_flr_i32_f32": (I, F, lambda a: integer(F32, a, -(1 << 31), (1 << 31) - 1, "floor")),
    "v_cvt_f16_f32": (H, F, lambda a: convert(F32, F16, a)),
    "v_cvt_f32_f16": (F, H, lambda a: convert(F16, F32, a)),
    "v_cvt_f32_f64": (F, D, lambda a: convert(F64, F32, a)),
    "v_cvt_f64_f32": (D, F, lambda a: convert(F32, F64, a)),
    "v_cvt_f16_u16": (H, "b16", lambda a: F16.bits(Fraction(a))),
    "v_cvt_f16_i16": (H, "b16", lambda a: F16.bits(Fraction(s16(a)))),
    "v_cvt_u16_f16": ("b16", H, lambda a: integer(F16, a, 0, 0xFFFF)),
    "v_cvt_i16_f16": ("b16", H, lambda a: integer(F16, a, -32768, 32767) & 0xFFFF),
    "v_cvt_off_f32_i4": (F, I, lambda a: F32.bits(Fraction(signed(a, 4), 16))),
    "v_cvt_pkrtz_f16_f32": (I, "f32 f32", lambda a, b: pack(*(convert(F32, F16, x, True) for x in (a, b)))),
    "v_cvt_pknorm_i16_f32": (I, "f32 f32", lambda a, b: pack(*map(norm(-32767, 32767, F32), (a, b)))),
    "v_cvt_pknorm_u16_f32": (I, "f32 f32", lambda a, b: pack(*map(norm(0, 65535, F32), (a, b)))),
    "v_cvt_pk_u8_f32": (I, "f32 b32 b32", lambda a, b, c:
                        c & ~(0xFF << 8 * (b & 3)) | integer(F32, a, 0, 255) << 8 * (b & 3)),
    "v_cvt_pk_bf16_f32": (I, "f32 f32", lambda a, b: pack(*(convert(F32, BF16, x) for x in (a, b)))),
    "v_cvt_pk_f16_f32": (I, "f32 f32", lambda a, b: pack(*(convert(F32, F16, x) for x in (a, b)))),
    "v_cvt_f32_bf16": (F, "bf16", lambda a: convert(BF16, F32, a)),
    "v_prng_b32": (I, I, lambda a: a << 1 ^ (197 if a >> 31 else 0)),
}

# Integers that stop at the ends of their range.
CLAMPED = {
    "v_add_u32": lambda a, b: min(a + b, M32),
    "v_sub_u32": lambda a, b: max(a - b, 0),
    "v_subrev_u32": lambda a, b: max(b - a, 0),
    "v_add_i32": lambda a, b: clamp(s32(a) + s32(b), -(1 << 31), (1 << 31) - 1),
    "v_sub_i32": lambda a, b: clamp(s32(a) - s32(b), -(1 << 31), (1 << 31) - 1),
    "v_add_u16": lambda a, b: min(a + b, 0xFFFF),
    "v_sub_u16": lambda a, b: max(a - b, 0),
    "v_add_i16": lambda a, b: clamp(s16(a) + s16(b), -32768, 32767) & 0xFFFF,
    "v_sub_i16": lambda a, b: clamp(s16(a) - s16(b), -32768, 32767) & 0xFFFF,
}

for _at in range(4):
    T[f"v_cvt_f32_ubyte{_at}"] = (F, I, lambda a, n=_at: F32.bits(Fraction(a >> 8 * n & 0xFF)))
for _fmt, _kind in ((F16, H), (F32, F), (F64, D)):
    for _how in ("trunc", "ceil", "floor", "rndne"):
        T[f"v_{_how}_{_kind}"] = (_kind, _kind, lambda a, f=_fmt, h=_how: f.integral(a, h))
    T[f"v_cmp_class_{_kind}"] = ("mask", f"{_kind} b32", cmp_class(_fmt))

# Comparisons: a table of which of less, equal, greater and unordered hold.
_FLOAT = {"f": "", "lt": "l", "eq": "e", "le": "le", "gt": "g", "lg": "lg", "ge": "ge", "o": "leg",
          "u": "u", "nge": "lu", "nlg": "eu", "ngt": "leu", "nle": "gu", "neq": "lgu", "nlt": "egu", "tru": "legu"}
_WHOLE = {"f": "", "lt": "l", "eq": "e", "le": "le", "gt": "g", "ne": "lg", "ge": "ge", "t": "leg"}


def _compare(kind, order, holds):
    letters = {-1: "l", 0: "e", 1: "g", None: "u"}
    return ("mask", f"{kind} {kind}", lambda a, b: int(letters[order(a, b)] in holds))


def _sign(a, b):
    return (a > b) - (a < b)


for _name, _holds in _FLOAT.items():
    for _fmt, _kind in ((F16, H), (F32, F), (F64, D)):
        T[f"v_cmp_{_name}_{_kind}"] = _compare(_kind, _fmt.order, _holds)
for _name, _holds in _WHOLE.items():
    for _width in (16, 32, 64):
        _kind = f"b{_width}"
        T[f"v_cmp_{_name}_u{_width}"] = _compare(_kind, _sign, _holds)
        T[f"v_cmp_{_name}_i{_width}"] = _compare(
            _kind, lambda a, b, w=_width: _sign(signed(a, w), signed(b, w)), _holds)


def _cmpx(row):
    def run(machine, name, operands, mods):
        active = machine.exec()
        machine.vector(row, name, operands, mods)
        machine.set_scalar("exec", machine.scalar(operands[0], 64) & active, 64)

    return run


for _name in [name for name in T if name.startswith("v_cmp_")]:
    T[_name.replace("v_cmp_", "v_cmpx_")] = _cmpx(T[_name])


def _readfirstlane(machine, name, operands, mods):
    lanes = machine.active() or [0]
    machine.set_scalar(operands[0], machine.raw(operands[1], "b32", lanes[0]))


def _readlane(machine, name, operands, mods):
    machine.set_scalar(operands[0], machine.raw(operands[1], "b32", machine.scalar(operands[2]) & 63))


def _writelane(machine, name, operands, mods):
    machine.set_lane(operands[0], machine.scalar(operands[2]) & 63, machine.scalar(operands[1]), 1)


def _mbcnt(start):
    def run(machine, name, operands, mods):
        for lane in machine.active():
            below = ((1 << lane) - 1) >> start & M32
            count = bin(machine.raw(operands[1], "b32", lane) & below).count("1")
            machine.set_lane(operands[0], lane, count + machine.raw(operands[2], "b32", lane), 1)

    return run


def _swap(machine, name, operands, mods):
    for lane in machine.active():
        a, b = (machine.raw(x, "b32", lane) for x in operands)
        machine.set_lane(operands[0], lane, b, 1)
        machine.set_lane(operands[1], lane, a, 1)


def _permlane_swap(rows):
    """Lanes of odd rows of the first with those of even rows of the second."""

    def run(machine, name, operands, mods):
        for lane in range(64):
            if lane // rows % 2 == 0:
                a = machine.raw(operands[0], "b32", lane + rows)
                b = machine.raw(operands[1], "b32", lane)
                machine.set_lane(operands[0], lane + rows, b, 1)
                machine.set_lane(operands[1], lane, a, 1)

    return run


def _bitop3(width):
    def run(machine, name, operands, mods):
        table = mods["bitop3"]
        table = int(table, 0) if isinstance(table, str) else table
        select = mods.get("op_sel", [0] * 4)
        for lane in machine.active():
            sources = [machine.raw(x, "b32", lane) >> (16 * select[at] if width == 16 else 0)
                       for at, x in enumerate(operands[1:])]
            value = 0
            for bit in range(width):
                row = sum((source >> bit & 1) << (2 - at) for at, source in enumerate(sources))
                value |= (table >> row & 1) << bit
            if width == 32:
                machine.set_lane(operands[0], lane, value, 1)
            else:
                old = machine.raw(operands[0], "b32", lane)
                high = select[3]
                keep = old & 0xFFFF if high else old & 0xFFFF0000
                machine.set_lane(operands[0], lane, value << 16 * high | keep, 1)

    return run


def _accvgpr(machine, name, operands, mods):
    for lane in machine.active():
        machine.set_lane(operands[0], lane, machine.raw(operands[1], "b32", lane), 1)


T.update({
    "v_readfirstlane_b32": _readfirstlane, "v_readlane_b32": _readlane, "v_writelane_b32": _writelane,
    "v_mbcnt_lo_u32_b32": _mbcnt(0), "v_mbcnt_hi_u32_b32": _mbcnt(32), "v_swap_b32": _swap,
    "v_permlane16_swap_b32": _permlane_swap(16), "v_permlane32_swap_b32": _permlane_swap(32),
    "v_bitop3_b32": _bitop3(32), "v_bitop3_b16": _bitop3(16),
    "v_accvgpr_read_b32": _accvgpr, "v_accvgpr_write_b32": _accvgpr, "v_accvgpr_mov_b32": _accvgpr,
})


# Packed.

def packed(kind, count, function):
    """Two halves of 16 bits each; op_sel and op_sel_hi choose halves."""

    def run(machine, name, operands, mods):
        fmt = {"f16": F16}.get(kind)
        for lane in machine.active():
            halves = []
            for high in (0, 1):
                select = mods.list("op_sel_hi", count, 1) if high else mods.list("op_sel", count, 0)
                negate = mods.list("neg_hi" if high else "neg_lo", count, 0)
                values = []
                for at, text in enumerate(operands[1:]):
                    bits = machine.raw(text, "b32" if machine.registers(text) or not fmt else kind, lane)
                    if machine.registers(text):
                        bits = bits >> (16 if select[at] else 0)
                    elif fmt:
                        # The constant is in the low half only.
                        bits = 0 if select[at] else bits
                    else:
                        bits = bits >> (16 if select[at] else 0)
                    values.append((bits & 0xFFFF) ^ (0x8000 if negate[at] else 0))
                value = function(*values)
                halves.append(machine.finished(kind, value, mods))
            machine.set_lane(operands[0], lane, pack(*halves), 1)

    return run


for _name, _kind, _count, _function in (
    ("v_pk_mad_i16", "b16", 3, lambda a, b, c: a * b + c), ("v_pk_mul_lo_u16", "b16", 2, lambda a, b: a * b),
    ("v_pk_add_i16", "b16", 2, lambda a, b: a + b), ("v_pk_sub_i16", "b16", 2, lambda a, b: a - b),
    ("v_pk_lshlrev_b16", "b16", 2, lambda a, b: b << (a & 15)),
    ("v_pk_lshrrev_b16", "b16", 2, lambda a, b: b >> (a & 15)),
    ("v_pk_ashrrev_i16", "b16", 2, lambda a, b: s16(b) >> (a & 15)),
    ("v_pk_max_i16", "b16", 2, lambda a, b: max(s16(a), s16(b))),
    ("v_pk_min_i16", "b16", 2, lambda a, b: min(s16(a), s16(b))),
    ("v_pk_mad_u16", "b16", 3, lambda a, b, c: a * b + c), ("v_pk_add_u16", "b16", 2, lambda a, b: a + b),
    ("v_pk_sub_u16", "b16", 2, lambda a, b: a - b), ("v_pk_max_u16", "b16", 2, max),
    ("v_pk_min_u16", "b16", 2, min), ("v_pk_fma_f16", "f16", 3, fma(F16)), ("v_pk_add_f16", "f16", 2, F16.add),
    ("v_pk_mul_f16", "f16", 2, F16.mul), ("v_pk_min_f16", "f16", 2, F16.least),
    ("v_pk_minimum3_f16", "f16", 3, extremes(F16, False)), ("v_pk_maximum3_f16", "f16", 3, extremes(F16, True)),
    ("v_pk_max_f16", "f16", 2, lambda a, b: F16.least(a, b, True)),
):
    T[_name] = packed(_kind, _count, _function)


def packed_f32(count, function):
    """Two registers each; op_sel chooses the register of a half's source."""

    def run(machine, name, operands, mods):
        for lane in machine.active():
            out = 0
            for high in (0, 1):
                select = mods.list("op_sel_hi", count, 1) if high else mods.list("op_sel", count, 0)
                negate = mods.list("neg_hi" if high else "neg_lo", count, 0)
                values = [machine.raw(text, "b64", lane) >> (32 if select[at] else 0) & M32
                          for at, text in enumerate(operands[1:])]
                values = [value ^ (negate[at] << 31) for at, value in enumerate(values)]
                out |= function(*values) << 32 * high
            machine.set_lane(operands[0], lane, out, 2)

    return run


T["v_pk_fma_f32"] = packed_f32(3, fma(F32))
T["v_pk_mul_f32"] = packed_f32(2, F32.mul)
T["v_pk_add_f32"] = packed_f32(2, F32.add)


def _pk_mov(machine, name, operands, mods):
    select = mods.list("op_sel", 2, 0), mods.list("op_sel_hi", 2, 1)
    for lane in machine.active():
        low = machine.raw(operands[1], "b64", lane) >> 32 * select[0][0] & M32
        high = machine.raw(operands[2], "b64", lane) >> 32 * select[0][1] & M32
        machine.set_lane(operands[0], lane, low | high << 32, 2)


T["v_pk_mov_b32"] = _pk_mov


def _mix(high):
    """f32 sources that may be halves of a register."""

    def run(machine, name, operands, mods):
        low_or_high, half = mods.list("op_sel", 3, 0), mods.list("op_sel_hi", 3, 0)
        for lane in machine.active():
            values = []
            for at, text in enumerate(operands[1:]):
                text, negative, magnitude, _ = machine.stripped(text)
                bits = machine.raw(text, "b32", lane)
                if half[at]:
                    bits = convert(F16, F32, bits >> 16 * low_or_high[at] & 0xFFFF)
                bits = bits & 0x7FFFFFFF if magnitude else bits
                values.append(bits ^ (negative << 31))
            value = F32.fma(*values)
            if high is None:
                machine.set_lane(operands[0], lane, machine.finished("f32", value, mods), 1)
                continue
            value = machine.finished("f16", convert(F32, F16, value), mods)
            old = machine.raw(operands[0], "b32", lane)
            keep = old & 0xFFFF if high else old & 0xFFFF0000
            machine.set_lane(operands[0], lane, value << 16 * high | keep, 1)

    return run


T["v_fma_mix_f32"], T["v_fma_mixlo_f16"], T["v_fma_mixhi_f16"] = _mix(None), _mix(0), _mix(1)


def _dot(width, count, extend):
    def run(machine, name, operands, mods):
        number = signed if extend else unsigned
        for lane in machine.active():
            a, b, c = (machine.raw(x, "b32", lane) for x in operands[1:])
            total = (s32(c) if extend else c) + sum(
                number(a >> width * at, width) * number(b >> width * at, width) for at in range(count))
            if mods.get("clamp"):
                total = clamp(total, -(1 << 31), (1 << 31) - 1) if extend else min(total, M32)
            machine.set_lane(operands[0], lane, total, 1)

    return run


for _name, _row in {"v_dot2_i32_i16": (16, 2, True), "v_dot2_u32_u16": (16, 2, False),
                    "v_dot4_i32_i8": (8, 4, True), "v_dot4_u32_u8": (8, 4, False),
                    "v_dot8_i32_i4": (4, 8, True), "v_dot8_u32_u4": (4, 8, False)}.items():
    T[_name] = _dot(*_row)
