/* Levels, exact. A level is a fraction of four numbers that are all exact, so it can be rounded correctly, once:
 *
 *     level = shares * M / (m * all_shares) * 2^e
 *
 *     M, m    the 53-bit integers in the account's usage and in the node's; e from their exponents
 *     shares < 2^31, all_shares < 2^63: the numerator has up to 84 bits, the denominator up to 116
 *
 * Then two fractions that are equal give the same double, whatever they are made of, and that is what a tie is.
 * (Double-double arithmetic gives the same but for values next to the middle between two doubles, where its last
 * error decides.)
 *
 * The division: a double's estimate of the quotient, 56 bits long and wrong by a few units in the 53rd, then the exact
 * remainder. It is small, so computing it modulo 2^128 loses nothing though the products are 172 bits long:
 *
 *     R = (shares * M << shift) - quotient * (m * all_shares),  |R| < 2^6 * 2^116
 *
 * The quotient is put right until 0 <= R < denominator; whether R is 0 becomes its last bit, and the conversion to
 * double rounds once, to nearest and even.
 *
 * Cost: about 20 ns a level, against 1.5 ns for a plain ratio; only lists that merge accounts pay it. */
#include "policy/level.h"

#include <math.h>

#include "base/ensure.h"

typedef unsigned __int128 u128;
typedef __int128 i128;

enum { MANTISSA_BITS = 52, QUOTIENT_BITS = 56, EXPONENT_BIAS = 1023, KEY_EXPONENT_BIAS = 1900 };

static const uint64_t MANTISSA_MASK = (UINT64_C(1) << MANTISSA_BITS) - 1;

/* value = mantissa * 2^exponent, the mantissa 53 bits long; value is positive and finite. */
static uint64_t split(double value, int *exponent)
{
    int shift = 0;
    if (value < 0x1p-1022) {
        value *= 0x1p60;
        shift = 60;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    *exponent = (int)(bits >> MANTISSA_BITS) - EXPONENT_BIAS - MANTISSA_BITS - shift;
    return (bits & MANTISSA_MASK) | UINT64_C(1) << MANTISSA_BITS;
}

static double power_of_two(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + EXPONENT_BIAS) << MANTISSA_BITS;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* The quotient rounded to a double: value * 2^*exponent, value in [2^55, 2^56]. numerator in [2^52, 2^84),
 * denominator in [2^52, 2^116). estimate: their quotient to within 2^-50. */
static double divide(u128 numerator, u128 denominator, double estimate, int *exponent)
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
    *exponent = -shift;
    return (double)(quotient | (rest != 0));
}

/* level = returned value * 2^*exponent, all four numbers positive. */
static double level_parts(uint32_t shares, double usage, uint64_t all_shares, double all_usage, int *exponent)
{
    ensure(shares <= all_shares && all_shares <= UINT64_C(1) << 63);
    int usage_exponent, all_exponent;
    uint64_t usage_mantissa = split(usage, &usage_exponent), all_mantissa = split(all_usage, &all_exponent);
    double estimate = (double)shares * (double)all_mantissa / ((double)all_shares * (double)usage_mantissa);
    double value = divide((u128)shares * all_mantissa, (u128)all_shares * usage_mantissa, estimate, exponent);
    *exponent += all_exponent - usage_exponent;
    return value;
}

uint64_t level_key_corner(uint32_t shares, double usage)
{
    ensure(usage >= 0 && usage <= 0x1.fffffffffffffp1023);
    if (shares == 0) return LEVEL_KEY_ZERO;
    if (shares == SHARES_PARENT || usage == 0) return LEVEL_KEY_INFINITE;
    /* A usage beyond 2^+-900 is brought near 1 and the exponent of the key put right. */
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
