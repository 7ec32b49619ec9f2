#include "policy/settings.h"

#include "base/ensure.h"
#include "base/number.h"
#include "base/quantity.h"

enum { DAY_S = 86400, YEAR_S = 366 * DAY_S };

const struct setting_row settings_table[SETTING_COUNT] = {
    [SET_HALFLIFE_S] = {"halflife_s", "usage counts half after this long; 0: it never fades", 0, INT64_C(100) * YEAR_S,
                        7 * DAY_S, SETTING_SPAN, NULL},
    [SET_TIES] = {"ties", "equal levels: merge (as Fair Tree is published) or slurm (as Slurm 22.05 ranks)", 0, 1, 0,
                  SETTING_CHOICE, "merge,slurm"},
    [SET_DEFAULT_CPUS] = {"default_cpus", "CPUs of a job that does not say", 1, 65536, 1, SETTING_NUMBER, NULL},
    [SET_DEFAULT_MEM_MIB] = {"default_mem_mib", "memory of a job that does not say", 1, INT64_C(1) << 40, 256,
                             SETTING_MEMORY, NULL},
    [SET_DEFAULT_TIME_S] = {"default_time_s", "time limit of a job that does not say", 1, 10 * YEAR_S, DAY_S,
                            SETTING_SPAN, NULL},
    [SET_GRACE_S] = {"grace_s", "from SIGTERM to SIGKILL when a job is ended", 0, DAY_S, 30, SETTING_SPAN, NULL},
    [SET_HOST_CPUS] = {"host_cpus", "CPUs to give out; auto: those this machine lets us use", SETTING_AUTO, 65536,
                       SETTING_AUTO, SETTING_NUMBER, NULL},
    [SET_HOST_MEM_MIB] = {"host_mem_mib", "memory to give out; auto: what this machine has", SETTING_AUTO,
                          INT64_C(1) << 40, SETTING_AUTO, SETTING_MEMORY, NULL},
    [SET_HOST_GPUS] = {"host_gpus", "GPUs to give out; auto: those found at start", SETTING_AUTO, 1024, SETTING_AUTO,
                       SETTING_NUMBER, NULL},
    [SET_MAX_ARRAY_TASKS] = {"max_array_tasks", "tasks that one array may have", 1, 1000000, 100000, SETTING_NUMBER,
                             NULL},
    [SET_MAX_JOBS] = {"max_jobs", "jobs that may wait and run at once; an array counts as one", 1, 10000000, 1000000,
                      SETTING_NUMBER, NULL},
};

struct settings settings_standard(void)
{
    struct settings s;
    for (int i = 0; i < SETTING_COUNT; i++) s.value[i] = settings_table[i].standard;
    return s;
}

int setting_find(struct str name, enum setting *out_setting, struct err *e)
{
    for (int i = 0; i < SETTING_COUNT; i++) {
        if (str_equal(str(settings_table[i].name), name)) {
            *out_setting = (enum setting)i;
            return 0;
        }
    }
    struct buf names = {0};
    for (int i = 0; i < SETTING_COUNT; i++) buf_format(&names, "%s%s", i > 0 ? ", " : "", settings_table[i].name);
    err_set(e, ERR_NOT_FOUND, "no setting '%.*s'; there are: %s", (int)(name.length < 64 ? name.length : 64), name.text,
            names.text);
    buf_release(&names);
    return -1;
}

/* The place of a word in "merge,slurm", or -1. */
static int64_t choice_index(const char *choices, struct str word)
{
    struct str rest = str(choices);
    for (int64_t i = 0; rest.text != NULL; i++) {
        if (str_equal_nocase(str_cut(rest, ',', &rest), word)) return i;
    }
    return -1;
}

/* The least number that can be given, auto apart: a host without GPUs is one, a host without CPUs or memory is none. */
static int64_t least_number(enum setting s)
{
    int64_t least = settings_table[s].least;
    return least != SETTING_AUTO ? least : s != SET_HOST_GPUS;
}

static int range_error(enum setting s, struct str value, struct err *e)
{
    const struct setting_row *row = &settings_table[s];
    int shown = (int)(value.length < 64 ? value.length : 64);
    if (row->type == SETTING_CHOICE) {
        struct str others, first = str_cut(str(row->choices), ',', &others);
        return err_set(e, ERR_INPUT, "%s: '%.*s' is not one of %.*s, %.*s", row->name, shown, value.text,
                       (int)first.length, first.text, (int)others.length, others.text);
    }
    return err_set(e, ERR_INPUT, "%s: '%.*s' is not %s from %lld to %lld%s", row->name, shown, value.text,
                   row->type == SETTING_SPAN     ? "a span in seconds"
                   : row->type == SETTING_MEMORY ? "MiB"
                                                 : "a whole number",
                   (long long)least_number(s), (long long)row->most, row->least == SETTING_AUTO ? ", or auto" : "");
}

static bool looks_like_clock(struct str value)
{
    for (size_t i = 1; i < value.length; i++) {
        if (value.text[i] == ':' || value.text[i] == '-') return true;
    }
    return false;
}

int setting_parse(enum setting s, struct str value, int64_t *out_value, struct err *e)
{
    ensure(s < SETTING_COUNT);
    const struct setting_row *row = &settings_table[s];
    int64_t number = 0;
    uint64_t mib = 0;
    if (row->least == SETTING_AUTO && str_equal_nocase(value, str("auto"))) {
        *out_value = SETTING_AUTO;
        return 0;
    }
    if (row->type == SETTING_CHOICE) {
        number = choice_index(row->choices, value);
        if (number < 0) return range_error(s, value, e);
    } else if (row->type == SETTING_SPAN && looks_like_clock(value)) {
        if (duration_parse(value, row->name, &number, e) != 0) return -1;
    } else if (row->type == SETTING_MEMORY && !number_parse_i64(value, &number)) {
        if (memory_parse(value, row->name, &mib, e) != 0) return -1;
        number = (int64_t)mib;
    } else if (row->type != SETTING_MEMORY && !number_parse_i64(value, &number)) {
        return range_error(s, value, e);
    }
    if (number < least_number(s) || number > row->most) return range_error(s, value, e);
    *out_value = number;
    return 0;
}

void setting_format(enum setting s, int64_t value, struct buf *out)
{
    ensure(s < SETTING_COUNT);
    const struct setting_row *row = &settings_table[s];
    if (row->least == SETTING_AUTO && value == SETTING_AUTO) {
        buf_add_text(out, "auto");
    } else if (row->type == SETTING_CHOICE) {
        struct str rest = str(row->choices), word = {0};
        for (int64_t i = 0; i <= value; i++) word = str_cut(rest, ',', &rest);
        buf_add_str(out, word);
    } else {
        buf_format(out, "%lld", (long long)value);
    }
}
