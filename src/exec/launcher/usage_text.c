/* Finds the few numbers that count in texts that have many. A text is lines of a name, a separator and a number, except
 * io.stat, which has a line for each device: "8:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0". A kernel may add
 * names anywhere. */
#include "exec/launcher/usage_text.h"

#include "base/number.h"
#include "base/quantity.h"
#include "base/saturate.h"

static bool parse_count(struct str s, int64_t *out)
{
    uint64_t value;
    if (!number_parse_u64(s, &value)) return false;
    *out = value > INT64_MAX ? INT64_MAX : (int64_t)value;
    return true;
}

/* The number of the first line "name<separator>number". */
static bool find_line(struct str text, const char *name, char separator, int64_t *out)
{
    while (text.length > 0) {
        struct str value, line = str_cut(text, '\n', &text);
        if (str_equal(str_cut(line, separator, &value), str(name))) return parse_count(str_trim(value), out);
    }
    return false;
}

static bool add_lines(struct str text, const char *first, const char *second, char separator, int64_t *out)
{
    int64_t a, b;
    if (!find_line(text, first, separator, &a) || !find_line(text, second, separator, &b)) return false;
    *out = saturate_add(a, b);
    return true;
}

bool usage_text_parse_io(struct str text, int64_t *out_bytes)
{
    return add_lines(text, "read_bytes", "write_bytes", ':', out_bytes);
}

bool usage_text_parse_group_cpu(struct str text, int64_t *out_us)
{
    return find_line(text, "usage_usec", ' ', out_us);
}

bool usage_text_parse_group_memory(struct str text, int64_t *out_kib)
{
    int64_t bytes;
    if (!add_lines(text, "anon", "shmem", ' ', &bytes)) return false;
    *out_kib = bytes / BYTES_PER_KIB;
    return true;
}

bool usage_text_parse_oom_kills(struct str text, int64_t *out_count)
{
    return find_line(text, "oom_kill", ' ', out_count);
}

bool usage_text_parse_ooms(struct str text, int64_t *out_count)
{
    return find_line(text, "oom", ' ', out_count);
}

/* The number of the first line "name:    number kB". */
static bool find_kib(struct str text, const char *name, int64_t *out)
{
    while (text.length > 0) {
        struct str value, rest, line = str_cut(text, '\n', &text);
        if (!str_equal(str_cut(line, ':', &value), str(name))) continue;
        return parse_count(str_cut(str_trim(value), ' ', &rest), out);
    }
    return false;
}

static bool add_kib(struct str text, const char *first, const char *second, int64_t *out)
{
    int64_t a, b;
    if (!find_kib(text, first, &a) || !find_kib(text, second, &b)) return false;
    *out = saturate_add(a, b);
    return true;
}

bool usage_text_parse_resident(struct str text, int64_t *out_kib)
{
    return add_kib(text, "RssAnon", "RssShmem", out_kib);
}

bool usage_text_parse_proportional(struct str text, int64_t *out_kib)
{
    return add_kib(text, "Pss_Anon", "Pss_Shmem", out_kib);
}

bool usage_text_parse_uid(struct str text, uint32_t *out_uid)
{
    while (text.length > 0) {
        struct str value, rest, line = str_cut(text, '\n', &text);
        uint64_t uid;
        if (!str_equal(str_cut(line, ':', &value), str("Uid"))) continue;
        if (!number_parse_u64(str_cut(str_trim(value), '\t', &rest), &uid) || uid > UINT32_MAX) return false;
        *out_uid = (uint32_t)uid;
        return true;
    }
    return false;
}

bool usage_text_parse_gpu(struct str text, uint32_t *out_gpu)
{
    enum { GPU_NUMBERS = 64 };
    const struct str prefix = str("/dev/nvidia");
    uint64_t number;
    if (text.length <= prefix.length || !str_starts(text, prefix)) return false;
    if (!number_parse_u64(str_range(text.text + prefix.length, text.text + text.length), &number)) return false;
    if (number >= GPU_NUMBERS) return false;
    *out_gpu = (uint32_t)number;
    return true;
}

bool usage_text_parse_autogroup(struct str text, int32_t *out_nice)
{
    enum { LOWEST = -20, HIGHEST = 19 };
    struct str rest, value;
    int64_t nice;
    struct str name = str_cut(str_trim(text), ' ', &rest);
    if (!str_starts(name, str("/autogroup-")) || !str_equal(str_cut(rest, ' ', &value), str("nice"))) return false;
    if (!number_parse_i64(value, &nice) || nice < LOWEST || nice > HIGHEST) return false;
    *out_nice = (int32_t)nice;
    return true;
}

bool usage_text_parse_group_io(struct str text, int64_t *out_bytes)
{
    int64_t sum = 0;
    while (text.length > 0) {
        struct str line = str_cut(text, '\n', &text);
        while (line.length > 0) {
            int64_t bytes;
            struct str value, word = str_cut(line, ' ', &line), name = str_cut(word, '=', &value);
            if (!str_equal(name, str("rbytes")) && !str_equal(name, str("wbytes"))) continue;
            if (!parse_count(value, &bytes)) return false;
            sum = saturate_add(sum, bytes);
        }
    }
    *out_bytes = sum;
    return true;
}
