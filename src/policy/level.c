/* Exact levels. A level is a fraction of four numbers that are all exact, so it can be rounded correctly, once:
 *
 *     level = shares * M / (m * all_shares) * 2^e
 *
 *     M, m    the 53-bit integers in the account's usage and in the node's; e from their exponents
 *     shares < 2^31, all_shares < 2^63: the numerator has up to 84 bits, the denominator up to 116
 *
 * So equal fractions give the same double, whatever their numerators and denominators, and compare as a tie.
 * (Double-double arithmetic gives the same except next to a point halfway between two doubles, where its last error
 * decides.)
 *
 * The division starts from an estimate of the quotient in double arithmetic, 56 bits long and wrong by a few units in
 * the 53rd. Then the exact remainder is computed. It is small, so computing it modulo 2^128 loses nothing, although the
 * products have up to 172 bits:
 *
 *     R = (shares * M << shift) - quotient * (m * all_shares),  |R| < 2^6 * 2^116
 *
 * The quotient is corrected until 0 <= R < denominator. Its last bit then becomes 1 if R is not 0, and the conversion
 * to double rounds once, to nearest, ties to even.
 *
 * Cost: about 20 ns a level, against 1.5 ns for a plain ratio. Only lists that merge accounts pay it. */
#include "policy/level.h"

#include <math.h>

#include "base/ensure.h"

typedef unsigned __int128 u128;
typedef __int128 i128;

enum { MANTISSA_BITS = 52, QUOTIENT_BITS = 56, EXPONENT_BIAS = 1023, KEY_EXPONENT_BIAS = 1900 };

static const uint64_t MANTISSA_MASK = (UINT64_C(1) << MANTISSA_BITS) - 1;

/* value = mantissa * 2^*out_exponent with a mantissa of 53 bits, which is returned. value is positive and finite. */
static uint64_t split(double value, int *out_exponent)
{
    int shift = 0;
    if (value < 0x1p-1022) {
        value *= 0x1p60;
        shift = 60;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    *out_exponent = (int)(bits >> MANTISSA_BITS) - EXPONENT_BIAS - MANTISSA_BITS - shift;
    return (bits & MANTISSA_MASK) | UINT64_C(1) << MANTISSA_BITS;
}

static double power_of_two(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + EXPONENT_BIAS) << MANTISSA_BITS;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* numerator / denominator, rounded to a double: value * 2^*out_exponent. The returned value is in [2^55, 2^56].
 * numerator in [2^52, 2^84), denominator in [2^52, 2^116). estimate: the quotient to within 2^-50 of itself. */
static double divide(u128 numerator, u128 denominator, double estimate, int *out_exponent)
{
    int estimate_exponent;
    split(estimate, &estimate_exponent);
    int shift = QUOTIENT_BITS - 1 - MANTISSA_BITS - estimate_exponent;
    ensure(shift > 0 && shift < 128);
    uint64_t quotient = (uint64_t)(estimate * power_of_two(shift));
    i128 rest = (i128)((numerator << shift) - quotient * denominator);
    int64_t correction = (int64_t)((double)rest / (double)denominator);
    quotient += (uint64_t)correction;
    rest -= correction * (i128)denominator;
    for (; rest < 0; rest += (i128)denominator) quotient--;
    for (; rest >= (i128)denominator; rest -= (i128)denominator) quotient++;
    *out_exponent = -shift;
    return (double)(quotient | (rest != 0));
}

/* level = returned value * 2^*out_exponent. All four numbers are positive. */
static double level_parts(uint32_t shares, double usage, uint64_t all_shares, double all_usage, int *out_exponent)
{
    ensure(shares <= all_shares && all_shares <= UINT64_C(1) << 63);
    int usage_exponent, all_exponent;
    uint64_t usage_mantissa = split(usage, &usage_exponent), all_mantissa = split(all_usage, &all_exponent);
    double estimate = (double)shares * (double)all_mantissa / ((double)all_shares * (double)usage_mantissa);
    double value = divide((u128)shares * all_mantissa, (u128)all_shares * usage_mantissa, estimate, out_exponent);
    *out_exponent += all_exponent - usage_exponent;
    return value;
}

uint64_t level_key_corner(uint32_t shares, double usage)
{
    ensure(usage >= 0 && usage <= 0x1.fffffffffffffp1023);
    if (shares == 0) return LEVEL_KEY_ZERO;
    if (shares == SHARES_PARENT || usage == 0) return LEVEL_KEY_INFINITE;
    /* A usage beyond 2^+-900 is scaled towards 1, and the key's exponent is corrected. */
    int up = usage < 1 ? 400 : -400;
    double ratio = (double)shares / (usage * power_of_two(up));
    uint64_t bits;
    memcpy(&bits, &ratio, sizeof bits);
    return bits + ((uint64_t)(1024 + up) << MANTISSA_BITS);
}

uint64_t level_key_across(uint32_t shares, double usage, uint64_t all_shares, double all_usage)
{
    if (shares == 0) return LEVEL_KEY_ZERO;
    if (shares == SHARES_PARENT || usage == 0 || all_usage == 0) return LEVEL_KEY_INFINITE;
    int exponent;
    double value = level_parts(shares, usage, all_shares, all_usage, &exponent);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int64_t field = (int64_t)(bits >> MANTISSA_BITS) - EXPONENT_BIAS + exponent + KEY_EXPONENT_BIAS;
    if (field < 1) return 1;
    return (uint64_t)field << MANTISSA_BITS | (bits & MANTISSA_MASK);
}

double level_value(uint32_t shares, double usage, uint64_t all_shares, double all_usage)
{
    if (shares == 0) return 0;
    if (usage == 0 || all_usage == 0) return INFINITY;
    int exponent;
    double value = level_parts(shares, usage, all_shares, all_usage, &exponent);
    return ldexp(value, exponent);
}
