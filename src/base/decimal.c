/* Doubles and decimal digits, converted by one multiplication with a power of ten.
 *
 * A double is m · 2^e. Its first n digits are the whole part of m · 2^e · 10^q, where q = n - 1 - floor(log10 value).
 * To round them, one must know whether the rest is below, above or equal to a half. The power of ten is kept to 128
 * bits, rounded down. So the product has 192 bits, the last of which are in doubt: it is less than WINDOW units of its
 * middle word below the true value. Where that interval does not contain a half, rounding the product is the same as
 * rounding the true value. That holds in all but a few cases in 10^18; in those the answer is "not sure".
 *
 *       high             middle           low
 *     [ whole | rest    |        WINDOW? | only when the power is exact ]
 *
 * Numbers that people write are not random; they are often ties: 0.5 to no places, or 2^-n. For q from 0 to 55, 5^q has
 * at most 128 bits, so the product is exact and a tie is recognised. All ties to 17 digits lie in that range: a tie is
 * D + 1/2 with D >= 10^16, and multiplied by 5^-q with q < 0 it would not fit into the 53 bits of m. Other ties (250000
 * to one digit) fall within the window.
 *
 * The way back is the same multiplication, cut to 53 bits: digits · 10^q with digits below 2^64. Where digits and power
 * are both doubles, a single division or multiplication rounds correctly (Clinger, "How to read floating point numbers
 * accurately", PLDI 1990).
 *
 * The powers are split, 5^q = 5^(27a) · 5^r with 0 <= r < 27, so 26 long factors and 27 short ones replace 683 long
 * ones. A truncated product of two truncated factors is short by less than 3 units of its last place. Together with the
 * truncation of the product with m, that makes WINDOW. Truncated powers and the interval test come from Lemire, "Number
 * parsing at a gigabyte per second", 2021, and Adams, "Ryu: fast float-to-string conversion", PLDI 2018; here a test at
 * run time takes the place of their proofs. */
#include "base/decimal.h"

#include <float.h>
#include <string.h>

#include "base/ensure.h"

typedef unsigned __int128 u128;

enum { STEP = 27, LONG_MIN_POWER = -351, EXACT_POWER_MAX = 55, WINDOW = 4 };
enum { POWER_MIN = -342, POWER_MAX = 340 };

struct long_factor {
    uint64_t high, low;
};

/* 5^(27a), shifted so that its first bit is the top bit, and rounded down. */
static const struct long_factor long_fives[] = {
    {UINT64_C(0x8049a4ac0c5811ae), UINT64_C(0x205b896d777d6278)}, /* 5^-351 */
    {UINT64_C(0xcf42894a5dce35ea), UINT64_C(0x52064cac828675b9)}, /* 5^-324 */
    {UINT64_C(0xa76c582338ed2621), UINT64_C(0xaf2af2b80af6f24e)}, /* 5^-297 */
    {UINT64_C(0x873e4f75e2224e68), UINT64_C(0x5a7744a6e804a291)}, /* 5^-270 */
    {UINT64_C(0xda7f5bf590966848), UINT64_C(0xaf39a475506a899e)}, /* 5^-243 */
    {UINT64_C(0xb080392cc4349dec), UINT64_C(0xbd8d794d96aacfb3)}, /* 5^-216 */
    {UINT64_C(0x8e938662882af53e), UINT64_C(0x547eb47b7282ee9c)}, /* 5^-189 */
    {UINT64_C(0xe65829b3046b0afa), UINT64_C(0x0cb4a5a3112a5112)}, /* 5^-162 */
    {UINT64_C(0xba121a4650e4ddeb), UINT64_C(0x92f34d62616ce413)}, /* 5^-135 */
    {UINT64_C(0x964e858c91ba2655), UINT64_C(0x3a6a07f8d510f86f)}, /* 5^-108 */
    {UINT64_C(0xf2d56790ab41c2a2), UINT64_C(0xfae27299423fb9c3)}, /* 5^-81 */
    {UINT64_C(0xc428d05aa4751e4c), UINT64_C(0xaa97e14c3c26b886)}, /* 5^-54 */
    {UINT64_C(0x9e74d1b791e07e48), UINT64_C(0x775ea264cf55347d)}, /* 5^-27 */
    {UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000)}, /* 5^0 */
    {UINT64_C(0xcecb8f27f4200f3a), UINT64_C(0x0000000000000000)}, /* 5^27 */
    {UINT64_C(0xa70c3c40a64e6c51), UINT64_C(0x999090b65f67d924)}, /* 5^54 */
    {UINT64_C(0x86f0ac99b4e8dafd), UINT64_C(0x69a028bb3ded71a3)}, /* 5^81 */
    {UINT64_C(0xda01ee641a708de9), UINT64_C(0xe80e6f4820cc9495)}, /* 5^108 */
    {UINT64_C(0xb01ae745b101e9e4), UINT64_C(0x5ec05dcff72e7f8f)}, /* 5^135 */
    {UINT64_C(0x8e41ade9fbebc27d), UINT64_C(0x14588f13be847307)}, /* 5^162 */
    {UINT64_C(0xe5d3ef282a242e81), UINT64_C(0x8f1668c8a86da5fa)}, /* 5^189 */
    {UINT64_C(0xb9a74a0637ce2ee1), UINT64_C(0x6d953e2bd7173692)}, /* 5^216 */
    {UINT64_C(0x95f83d0a1fb69cd9), UINT64_C(0x4abdaf101564f98e)}, /* 5^243 */
    {UINT64_C(0xf24a01a73cf2dccf), UINT64_C(0xbc633b39673c8cec)}, /* 5^270 */
    {UINT64_C(0xc3b8358109e84f07), UINT64_C(0x0a862f80ec4700c8)}, /* 5^297 */
    {UINT64_C(0x9e19db92b4e31ba9), UINT64_C(0x6c07a2c26a8346d1)}, /* 5^324 */
};

/* 5^0 to 5^26, shifted so that their first bit is the top bit. All are exact. */
static const uint64_t short_fives[STEP] = {
    UINT64_C(0x8000000000000000), UINT64_C(0xa000000000000000), UINT64_C(0xc800000000000000),
    UINT64_C(0xfa00000000000000), UINT64_C(0x9c40000000000000), UINT64_C(0xc350000000000000),
    UINT64_C(0xf424000000000000), UINT64_C(0x9896800000000000), UINT64_C(0xbebc200000000000),
    UINT64_C(0xee6b280000000000), UINT64_C(0x9502f90000000000), UINT64_C(0xba43b74000000000),
    UINT64_C(0xe8d4a51000000000), UINT64_C(0x9184e72a00000000), UINT64_C(0xb5e620f480000000),
    UINT64_C(0xe35fa931a0000000), UINT64_C(0x8e1bc9bf04000000), UINT64_C(0xb1a2bc2ec5000000),
    UINT64_C(0xde0b6b3a76400000), UINT64_C(0x8ac7230489e80000), UINT64_C(0xad78ebc5ac620000),
    UINT64_C(0xd8d726b7177a8000), UINT64_C(0x878678326eac9000), UINT64_C(0xa968163f0a57b400),
    UINT64_C(0xd3c21bcecceda100), UINT64_C(0x84595161401484a0), UINT64_C(0xa56fa5b99019a5c8),
};

/* (high · 2^128 + middle · 2^64 + low) · 2^exponent. */
struct product {
    uint64_t high, middle, low;
    int exponent;
    bool is_exact; /* otherwise the true value is larger, by less than WINDOW units of middle */
};

static struct product multiply(struct long_factor a, uint64_t b)
{
    u128 low = (u128)a.low * b;
    u128 high = (u128)a.high * b + (uint64_t)(low >> 64);
    return (struct product){.high = (uint64_t)(high >> 64), .middle = (uint64_t)high, .low = (uint64_t)low};
}

/* m · 2^e · 10^q, where the top bit of m is set. */
static struct product scale(uint64_t m, int e, int q)
{
    unsigned power_index = (unsigned)(q - LONG_MIN_POWER);
    struct product power = multiply(long_fives[power_index / STEP], short_fives[power_index % STEP]);
    if (power.high >> 63 == 0) {
        power.high = power.high << 1 | power.middle >> 63;
        power.middle = power.middle << 1 | power.low >> 63;
    }
    struct product p = multiply((struct long_factor){power.high, power.middle}, m);
    /* 217706 / 2^16 is log2 10; the floor is right for |q| <= 1233. */
    p.exponent = e + (q * 217706 >> 16) - 127;
    p.is_exact = q >= 0 && q <= EXACT_POWER_MAX;
    return p;
}

uint64_t decimal_power(int power)
{
    static const uint64_t powers[] = {
        UINT64_C(1),
        UINT64_C(10),
        UINT64_C(100),
        UINT64_C(1000),
        UINT64_C(10000),
        UINT64_C(100000),
        UINT64_C(1000000),
        UINT64_C(10000000),
        UINT64_C(100000000),
        UINT64_C(1000000000),
        UINT64_C(10000000000),
        UINT64_C(100000000000),
        UINT64_C(1000000000000),
        UINT64_C(10000000000000),
        UINT64_C(100000000000000),
        UINT64_C(1000000000000000),
        UINT64_C(10000000000000000),
        UINT64_C(100000000000000000),
        UINT64_C(1000000000000000000),
        UINT64_C(10000000000000000000),
    };
    return powers[power];
}

/* value = m · 2^*out_e, where the top bit of the returned m is set. */
static uint64_t split(double value, int *out_e)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int biased = (int)(bits >> 52);
    uint64_t m = (bits << 11) | UINT64_C(1) << 63;
    if (biased == 0) {
        biased = 1;
        m = bits << 11;
        int zeros = __builtin_clzll(m);
        m <<= zeros;
        biased -= zeros;
    }
    *out_e = biased - 1023 - 63;
    return m;
}

/* floor(log10(m · 2^e)) or, rarely, one less. The binary logarithm is approximated as e + 63 + (m/2^63 - 1), which is
 * below the true one by less than 0.09. slack keeps the rounded factor from raising the result above it. */
static int log10_floor(uint64_t m, int e)
{
    const int64_t log10_of_2 = 1292913986; /* · 2^32 */
    const int64_t slack = INT64_C(1) << 28;
    int64_t log2 = (int64_t)(e + 63) * (1 << 20) + (int64_t)(m << 1 >> 44);
    return (int)((log2 * log10_of_2 - slack) >> 52);
}

/* Rounds the bits of high from bit `cut` (1 to 63) up to nearest, ties to even; false when not sure. */
static bool round_product(const struct product *p, int cut, uint64_t *out_rounded)
{
    uint64_t whole = p->high >> cut;
    uint64_t half = UINT64_C(1) << (cut - 1);
    uint64_t rest = p->high & (2 * half - 1);
    bool up = rest >= half;
    if (p->is_exact) {
        if (rest == half && p->middle == 0 && p->low == 0) up = whole & 1;
    } else {
        if (rest == half - 1 && p->middle > UINT64_MAX - WINDOW) return false;
        if (rest == half && p->middle == 0) return false;
    }
    *out_rounded = whole + up;
    return true;
}

bool decimal_from_double(double value, int digit_count, struct decimal *out_decimal)
{
    ensure(digit_count >= 1 && digit_count <= DECIMAL_DIGITS_MAX);
    ensure(value > 0 && value <= DBL_MAX);
    int e;
    uint64_t m = split(value, &e);
    int q = digit_count - 1 - log10_floor(m, e);
    struct product p = scale(m, e, q);
    if (p.high >> (-p.exponent - 128) >= decimal_power(digit_count)) p = scale(m, e, --q);
    uint64_t digits;
    if (!round_product(&p, -p.exponent - 128, &digits)) return false;
    if (digits == decimal_power(digit_count)) {
        digits /= 10;
        q--;
    }
    *out_decimal = (struct decimal){digits, -q};
    return true;
}

/* Where digits and power are doubles without rounding, one operation rounds correctly. 10^22 is the largest power of
 * ten that is a double. */
static bool divide_or_multiply(struct decimal d, double *out_value)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (FLT_EVAL_METHOD != 0 || d.digits > UINT64_C(1) << 53 || d.exponent < -22 || d.exponent > 22) return false;
    double digits = (double)d.digits;
    *out_value = d.exponent < 0 ? digits / powers[-d.exponent] : digits * powers[d.exponent];
    return true;
}

bool decimal_to_double(struct decimal d, double *out_value)
{
    if (d.digits == 0) {
        *out_value = 0;
        return true;
    }
    if (divide_or_multiply(d, out_value)) return true;
    if (d.exponent < POWER_MIN || d.exponent > POWER_MAX) return false;
    int zeros = __builtin_clzll(d.digits);
    struct product p = scale(d.digits << zeros, -zeros, d.exponent);
    int cut = p.high >> 63 ? 11 : 10;
    uint64_t mantissa;
    if (!round_product(&p, cut, &mantissa)) return false;
    int biased = p.exponent + 128 + cut + 52 + 1023;
    if (biased < 1 || biased > 2045) return false;
    /* The mantissa's own top bit, and the bit that rounding up may have added, are carried into the exponent. */
    uint64_t bits = ((uint64_t)(biased - 1) << 52) + mantissa;
    memcpy(out_value, &bits, sizeof bits);
    return true;
}

uint64_t decimal_scaled(double value, int places)
{
    ensure(value >= 0);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int biased = (int)(bits >> 52);
    uint64_t m = (bits & ((UINT64_C(1) << 52) - 1)) | (uint64_t)(biased > 0) << 52;
    int right = 1023 + 52 - (biased > 0 ? biased : 1); /* value = m / 2^right */
    u128 scaled = (u128)m * decimal_power(places);     /* below 2^117 */
    ensure(right > -12);
    if (right >= 120) return 0; /* less than 2^117 / 2^120: below a half */
    if (right <= 0) {
        scaled <<= -right;
    } else {
        u128 half = (u128)1 << (right - 1);
        u128 rest = scaled & (2 * half - 1);
        scaled >>= right;
        scaled += rest > half || (rest == half && (scaled & 1));
    }
    ensure(scaled >> 64 == 0);
    return (uint64_t)scaled;
}
