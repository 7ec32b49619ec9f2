#include "cli/job_columns.h"

#include <string.h>

#include "api/client/client.h"
#include "base/idset.h"
#include "base/quantity.h"
#include "cli/job_elapsed.h"
#include "cli/job_end.h"
#include "cli/job_ranks.h"
#include "cli/listing.h"
#include "cli/tres_show.h"
#include "fields/job_fields.h"
#include "fields/job_id.h"
#include "fields/limits.h"

enum {
    TASKS_SHOWN_MAX = 300,
    PLACES_WIDTH_MIN = 16, /* "main@localhost=4" */
    WAITS_WIDTH_MIN = 24   /* "begin at 22 Nov 09:05:00" */
};

static bool has(const struct field_value *row, enum job_field f)
{
    return !field_is_absent(job_field_at(f), &row[f]);
}

/* Ends a show function: a cell without text is "-". */
static void show_dash_if_empty(struct buf *out)
{
    if (out->length == 0) buf_add_char(out, '-');
}

/* --- computed columns --------------------------------------------------------------------------------------------- */

static const struct field elapsed_field = {
    .name = "elapsed_s", .help = "time it has run, without suspensions", .type = FIELD_SECONDS, .is_nullable = true};

static const struct field suspended_field = {
    .name = "suspended_s", .help = "time it was suspended", .type = FIELD_SECONDS, .is_nullable = true};

static struct field_value compute_suspended(const struct field_value *row, struct arena *arena)
{
    (void)arena;
    if (!has(row, JOB_FIELD_START)) return field_absent();
    return field_number(job_elapsed_suspended_us(row, client_now_us()) / US_PER_S);
}

static struct field_value compute_elapsed(const struct field_value *row, struct arena *arena)
{
    (void)arena;
    if (!has(row, JOB_FIELD_START)) return field_absent();
    return field_number(job_elapsed_us(row, client_now_us()) / US_PER_S);
}

static const struct field cpus_field = {.name = "cpus",
                                        .help = "CPUs of each task; with a range of slots, those allocated to the task",
                                        .type = FIELD_NUMBER};

static struct field_value compute_cpus(const struct field_value *row, struct arena *arena)
{
    int64_t count = row[JOB_FIELD_CPUS].number;
    uint32_t allocated;
    (void)arena;
    if (row[JOB_FIELD_SLOTS_MAX].number > 0 &&
        job_field_count_ids(str(row[JOB_FIELD_CPU_IDS].text), "cpu_ids", &allocated, NULL) == 0 && allocated > count)
        count = allocated;
    return field_number(count);
}

static const struct field reason_field = {.name = "reason",
                                          .help = "reason why it is pending",
                                          .type = FIELD_CHOICE,
                                          .choices = pending_reason_names,
                                          .is_nullable = true};

static struct field_value compute_reason(const struct field_value *row, struct arena *arena)
{
    (void)arena;
    return row[JOB_FIELD_REASON].number == PENDING_NONE ? field_absent() : row[JOB_FIELD_REASON];
}

/* "Resources (cpu,mem)" */
static void show_reason(const struct field_value *row, struct buf *out)
{
    if (row[JOB_FIELD_REASON].number != PENDING_NONE)
        buf_add_text(out, pending_reason_name((enum pending_reason)row[JOB_FIELD_REASON].number));
    if (row[JOB_FIELD_REASON].number == PENDING_RESOURCES && has(row, JOB_FIELD_MISSING))
        buf_format(out, " (%s)", row[JOB_FIELD_MISSING].text);
    show_dash_if_empty(out);
}

static const struct field rank_field = {.name = "rank",
                                        .help = "place among the pending jobs that may start: 1 is the next one",
                                        .type = FIELD_NUMBER,
                                        .special = "none",
                                        .is_nullable = true};

/* A waiting job that has none comes after all others, a running one before them: that is the order of a queue. */
static struct field_value compute_rank(const struct field_value *row, struct arena *arena)
{
    uint32_t rank = job_ranks_of((uint32_t)row[JOB_FIELD_JOB_ID].number);
    (void)arena;
    if (row[JOB_FIELD_STATE].number != JOB_PENDING) return field_absent();
    return field_number(rank > 0 ? (int64_t)rank : FIELD_SPECIAL);
}

static void show_rank(const struct field_value *row, struct buf *out)
{
    struct field_value rank = compute_rank(row, NULL);
    if (rank.number != FIELD_ABSENT && rank.number != FIELD_SPECIAL) buf_format(out, "%lld", (long long)rank.number);
    show_dash_if_empty(out);
}

static const struct field priority_field = {
    .name = "priority", .help = "its priority while it waits, as prio has it", .type = FIELD_REAL, .is_nullable = true};

static struct field_value compute_priority(const struct field_value *row, struct arena *arena)
{
    double priority;
    (void)arena;
    bool is_pending = row[JOB_FIELD_STATE].number == JOB_PENDING;
    if (!is_pending || !job_ranks_priority((uint32_t)row[JOB_FIELD_JOB_ID].number, &priority)) return field_absent();
    return field_real(priority);
}

/* "3:0", "0:9", as in sacct. */
static const struct field exit_field = {
    .name = "exit_status:signal", .help = "exit status and signal", .type = FIELD_TEXT, .is_nullable = true};

static struct field_value compute_exit(const struct field_value *row, struct arena *arena)
{
    char text[48];
    if (!job_end_has_status(row)) return field_absent();
    int64_t status = has(row, JOB_FIELD_EXIT_STATUS) ? row[JOB_FIELD_EXIT_STATUS].number : 0;
    text_format(text, sizeof text, "%lld:%lld", (long long)status, (long long)row[JOB_FIELD_SIGNAL].number);
    return field_text(arena_copy(arena, str(text)));
}

static void show_exit(const struct field_value *row, struct buf *out)
{
    if (!job_end_has_status(row))
        buf_add_char(out, '-');
    else if (row[JOB_FIELD_SIGNAL].number > 0)
        buf_format(out, "signal %lld", (long long)row[JOB_FIELD_SIGNAL].number);
    else
        buf_format(out, "%lld", (long long)row[JOB_FIELD_EXIT_STATUS].number);
}

/* --- cells of tables ---------------------------------------------------------------------------------------------- */

static void show_max_memory(const struct field_value *row, struct buf *out)
{
    char text[32];
    int64_t kib = row[JOB_FIELD_MAX_RSS].number;
    if (!has(row, JOB_FIELD_START) || kib <= 0) /* not started, not reported yet, or withheld */
        buf_add_char(out, '-');
    else
        buf_add(out, text, memory_format(text, (uint64_t)(kib + 1023) / 1024));
}

static void show_tasks(const struct field_value *row, struct buf *out)
{
    if (has(row, JOB_FIELD_ARRAY_TASKS)) {
        job_id_write_short(str(row[JOB_FIELD_ARRAY_TASKS].text), TASKS_SHOWN_MAX, out);
        buf_format(out, " (%lld)", (long long)row[JOB_FIELD_TASK_COUNT].number);
        if (row[JOB_FIELD_ARRAY_LIMIT].number > 0)
            buf_format(out, ", at most %lld at once", (long long)row[JOB_FIELD_ARRAY_LIMIT].number);
    }
    show_dash_if_empty(out);
}

/* Whether its usage is known: it has ended, or was measured while it runs, and is not withheld. */
static bool has_usage(const struct field_value *row)
{
    if (!has(row, JOB_FIELD_START) || !has(row, JOB_FIELD_CPU_TIME)) return false;
    return has(row, JOB_FIELD_END) || row[JOB_FIELD_CPU_TIME].number > 0 || row[JOB_FIELD_MEM_TIME].real > 0.0;
}

static void show_cpu_time(const struct field_value *row, struct buf *out)
{
    if (has_usage(row)) buf_format(out, "%.2f s", (double)row[JOB_FIELD_CPU_TIME].number / 1e6);
    show_dash_if_empty(out);
}

static void show_memory_time(const struct field_value *row, struct buf *out)
{
    if (has_usage(row)) buf_format(out, "%.2f GiB x s", row[JOB_FIELD_MEM_TIME].real);
    show_dash_if_empty(out);
}

/* Less than a MiB in KiB, rounded up. */
static void show_io(const struct field_value *row, struct buf *out)
{
    char text[32];
    uint64_t bytes = (uint64_t)row[JOB_FIELD_IO].number;
    if (has_usage(row) && bytes < BYTES_PER_MIB)
        buf_format(out, "%lluK", (unsigned long long)(bytes + BYTES_PER_KIB - 1) / BYTES_PER_KIB);
    else if (has_usage(row))
        buf_add(out, text, memory_format(text, (bytes + BYTES_PER_MIB - 1) / BYTES_PER_MIB));
    show_dash_if_empty(out);
}

static void show_slots(const struct field_value *row, struct buf *out)
{
    buf_format(out, "%lld", (long long)row[JOB_FIELD_CPUS].number);
    if (row[JOB_FIELD_SLOTS_MAX].number > 0) buf_format(out, " to %lld", (long long)row[JOB_FIELD_SLOTS_MAX].number);
}

static void show_nodes(const struct field_value *row, struct buf *out)
{
    int64_t slots = row[JOB_FIELD_SLOTS_PER_NODE].number;
    buf_add_text(out, row[JOB_FIELD_NODES].text);
    if (slots > 0) buf_format(out, "%s%lld slots on each", out->length > 0 ? ", " : "", (long long)slots);
    if (row[JOB_FIELD_EXCLUSIVE].number > 0) buf_format(out, "%sexclusive", out->length > 0 ? ", " : "");
    show_dash_if_empty(out);
}

static void show_immediate(const struct field_value *row, struct buf *out)
{
    int64_t within_s = row[JOB_FIELD_IMMEDIATE].number;
    if (within_s == 0)
        buf_add_text(out, "at once");
    else if (within_s != FIELD_ABSENT)
        buf_format(out, "within %lld s", (long long)within_s);
    show_dash_if_empty(out);
}

/* Appends the number with its prefix and suffix, unless it is 0 or absent. */
static void add_unless_0(const struct field_value *value, const char *prefix, const char *suffix, struct buf *out)
{
    if (value->number == 0 || value->number == FIELD_ABSENT) return;
    buf_format(out, "%s%s%lld%s", out->length > 0 ? ", " : "", prefix, (long long)value->number, suffix);
}

/* "set to 5000, nice 100, site 5, POSIX -3": values other than the default. */
static void show_priority(const struct field_value *row, struct buf *out)
{
    if (has(row, JOB_FIELD_SET_PRIORITY)) add_unless_0(&row[JOB_FIELD_SET_PRIORITY], "set to ", "", out);
    add_unless_0(&row[JOB_FIELD_NICE], "nice ", "", out);
    add_unless_0(&row[JOB_FIELD_SITE], "site ", "", out);
    add_unless_0(&row[JOB_FIELD_POSIX_PRIORITY], "POSIX ", "", out);
    show_dash_if_empty(out);
}

/* The maximum stands for UNLIMITED. */
static void show_time_limit(const struct field_value *row, struct buf *out)
{
    const struct field *f = job_field_at(JOB_FIELD_TIME_LIMIT);
    int64_t limit_s = row[JOB_FIELD_TIME_LIMIT].number, granted_s = row[JOB_FIELD_GRANTED_TIME].number;
    if (granted_s > 0 && granted_s < limit_s) limit_s = granted_s;
    char text[32];
    if (limit_s >= (int64_t)f->max)
        buf_add_text(out, "UNLIMITED");
    else
        buf_add(out, text, duration_format_short(text, limit_s));
}

/* " (cut from 1:00:00)", " (at least 10:00)" */
static void add_asked_time(const struct field_value *row, bool is_cut, struct buf *out)
{
    struct buf limit = {0};
    const struct field_value zero = field_number(0);
    struct field_value asked[JOB_FIELD_COUNT] = {[JOB_FIELD_GRANTED_TIME] = zero};
    asked[JOB_FIELD_TIME_LIMIT] = row[is_cut ? JOB_FIELD_TIME_LIMIT : JOB_FIELD_TIME_MIN];
    show_time_limit(asked, &limit);
    buf_format(out, is_cut ? " (cut from %s)" : " (at least %s)", limit.text);
    buf_release(&limit);
}

/* Also whether a limit does not count for it. */
static void show_time_limit_and_origin(const struct field_value *row, struct buf *out)
{
    show_time_limit(row, out);
    bool is_cut = row[JOB_FIELD_GRANTED_TIME].number > 0;
    if (is_cut || row[JOB_FIELD_TIME_MIN].number > 0) add_asked_time(row, is_cut, out);
    if (row[JOB_FIELD_IS_TIME_EXEMPT].number > 0) buf_add_text(out, ", set by an operator: MaxWall does not count");
}

/* Also what else it waits for: its begin; or that it can never run. */
static void show_waits_for(const struct field_value *row, struct buf *out)
{
    static const struct column begin = {.field = JOB_FIELD_BEGIN};
    if (has(row, JOB_FIELD_NEVER_RUNS)) {
        buf_add_text(out, row[JOB_FIELD_NEVER_RUNS].text);
    } else if (has(row, JOB_FIELD_WAITS_FOR)) {
        buf_add_text(out, row[JOB_FIELD_WAITS_FOR].text);
    } else if (row[JOB_FIELD_REASON].number == PENDING_BEGIN_TIME && has(row, JOB_FIELD_BEGIN)) {
        buf_add_text(out, "begin at ");
        listing_write_cell(&job_columns_start, &begin, row, NULL, out);
    }
    show_dash_if_empty(out);
}

/* Of a job among very many it is computed only where it is asked for. */
static void show_expected(const struct field_value *row, struct buf *out)
{
    static const struct column start = {.field = JOB_FIELD_EXPECTED_START};
    int64_t reason = row[JOB_FIELD_REASON].number;
    bool is_known =
        has(row, JOB_FIELD_EXPECTED_START) || has(row, JOB_FIELD_WAITS_FOR) || has(row, JOB_FIELD_NEVER_RUNS);
    if (!is_known && (reason == PENDING_RESOURCES || reason == PENDING_PRIORITY))
        buf_add_text(out, "not computed; run 'fairlead queue --start'");
    else
        listing_write_cell(&job_columns_show, &start, row, NULL, out);
}

static void show_tres(const struct field_value *row, struct buf *out)
{
    if (has(row, JOB_FIELD_TRES)) tres_show(row[JOB_FIELD_TRES].text, out);
    show_dash_if_empty(out);
}

static void show_reserve(const struct field_value *row, struct buf *out)
{
    buf_add_text(out, row[JOB_FIELD_RESERVE].number > 0 ? "requested" : "-");
}

static void show_tickets(const struct field_value *row, struct buf *out)
{
    add_unless_0(&row[JOB_FIELD_JOB_SHARE], "", " functional shares", out);
    add_unless_0(&row[JOB_FIELD_OVERRIDE_TICKETS], "", " override tickets", out);
    show_dash_if_empty(out);
}

/* --- the tables --------------------------------------------------------------------------------------------------- */

#define ID                                                               \
    {                                                                    \
        .field = JOB_FIELD_ID, .heading = "ID", .is_right_aligned = true \
    }
#define NAME(rank_)                                                                  \
    {                                                                                \
        .field = JOB_FIELD_NAME, .width_min = COLUMN_NAME_WIDTH_MIN, .rank = (rank_) \
    }
#define USER(rank_)                                                                  \
    {                                                                                \
        .field = JOB_FIELD_USER, .width_min = COLUMN_NAME_WIDTH_MIN, .rank = (rank_) \
    }
#define ACCOUNT(rank_)                                                                  \
    {                                                                                   \
        .field = JOB_FIELD_ACCOUNT, .width_min = COLUMN_NAME_WIDTH_MIN, .rank = (rank_) \
    }
#define STATE                    \
    {                            \
        .field = JOB_FIELD_STATE \
    }
#define ELAPSED(heading_, rank_)                                                                       \
    {                                                                                                  \
        .computed = &elapsed_field, .compute = compute_elapsed, .heading = (heading_), .rank = (rank_) \
    }
#define SUSPENDED                                                                           \
    {                                                                                       \
        .computed = &suspended_field, .compute = compute_suspended, .is_for_programs = true \
    }
#define CPUS(rank_)                                                                          \
    {                                                                                        \
        .computed = &cpus_field, .compute = compute_cpus, .heading = "CPUS", .rank = (rank_) \
    }
/* Never cut: limits differ in the middle of their reasons. */
#define REASON(rank_)                                                                              \
    {                                                                                              \
        .computed = &reason_field, .compute = compute_reason, .show = show_reason, .rank = (rank_) \
    }
#define EXIT                                                                                    \
    {                                                                                           \
        .computed = &exit_field, .compute = compute_exit, .show = show_exit, .heading = "EXIT", \
        .is_right_aligned = true, .rank = 1                                                     \
    }

static const struct column queue[] = {
    ID,
    NAME(0),
    USER(3),
    ACCOUNT(7),
    {.field = JOB_FIELD_PARTITION, .width_min = COLUMN_NAME_WIDTH_MIN, .rank = 9},
    {.field = JOB_FIELD_QOS, .width_min = COLUMN_NAME_WIDTH_MIN, .rank = 11},
    STATE,
    ELAPSED("TIME", 1),
    {.field = JOB_FIELD_TIME_LIMIT, .heading = "LIMIT", .show = show_time_limit, .is_right_aligned = true, .rank = 8},
    CPUS(4),
    {.field = JOB_FIELD_MEM_MIB, .heading = "MEM", .rank = 6},
    {.field = JOB_FIELD_GPUS, .zero_is_absent = true, .rank = 10},
    {.computed = &priority_field,
     .compute = compute_priority,
     .heading = "PRIORITY",
     .is_for_people = true,
     .is_for_programs = true},
    {.computed = &rank_field,
     .compute = compute_rank,
     .show = show_rank,
     .heading = "RANK",
     .is_right_aligned = true,
     .is_for_people = true,
     .is_optional = true,
     .rank = 12},
    REASON(2),
    SUSPENDED,
};

static const struct column start[] = {
    ID,
    NAME(0),
    USER(3),
    ACCOUNT(7),
    {.field = JOB_FIELD_PARTITION, .width_min = COLUMN_NAME_WIDTH_MIN, .rank = 9},
    CPUS(4),
    {.field = JOB_FIELD_TIME_LIMIT, .heading = "LIMIT", .show = show_time_limit, .is_right_aligned = true, .rank = 8},
    {.field = JOB_FIELD_EXPECTED_START, .heading = "EXPECTED"},
    {.field = JOB_FIELD_EXPECTED_PLACES, .heading = "PLACES", .width_min = PLACES_WIDTH_MIN, .rank = 6},
    {.field = JOB_FIELD_WAITS_FOR,
     .heading = "WAITS FOR",
     .show = show_waits_for,
     .width_min = WAITS_WIDTH_MIN,
     .rank = 1},
    REASON(5),
};

static const struct column history[] = {
    ID,
    NAME(0),
    USER(3),
    ACCOUNT(7),
    STATE,
    EXIT,
    ELAPSED("ELAPSED", 2),
    CPUS(6),
    {.field = JOB_FIELD_MAX_RSS, .heading = "MAXMEM", .is_right_aligned = true, .show = show_max_memory, .rank = 5},
    {.field = JOB_FIELD_END, .heading = "ENDED", .rank = 4},
    SUSPENDED,
};

static const struct column show_job[] = {
    {.field = JOB_FIELD_ID, .heading = "Job"},
    {.field = JOB_FIELD_NAME, .heading = "Name"},
    {.field = JOB_FIELD_COMMENT, .heading = "Comment"},
    {.field = JOB_FIELD_ADMIN_COMMENT, .heading = "Admin comment"},
    {.field = JOB_FIELD_ORIGIN, .heading = "Moved in from"},
    {.field = JOB_FIELD_USER, .heading = "User"},
    {.field = JOB_FIELD_ACCOUNT, .heading = "Account"},
    {.field = JOB_FIELD_PROJECT, .heading = "Project"},
    {.field = JOB_FIELD_PARTITION, .heading = "Partition"},
    {.field = JOB_FIELD_QOS, .heading = "QOS"},
    {.field = JOB_FIELD_FAIR_SHARE, .heading = "Fair share", .is_fixed = true, .decimals = 6},
    {.field = JOB_FIELD_SET_PRIORITY, .heading = "Adjustments", .show = show_priority},
    {.field = JOB_FIELD_OVERRIDE_TICKETS, .heading = "Own tickets", .show = show_tickets},
    {.field = JOB_FIELD_STATE, .heading = "State", .show = job_end_describe},
    {.computed = &priority_field, .compute = compute_priority, .heading = "Priority"},
    {.computed = &reason_field, .compute = compute_reason, .show = show_reason, .heading = "Reason"},
    {.field = JOB_FIELD_EXPECTED_START, .heading = "Expected", .show = show_expected},
    {.field = JOB_FIELD_EXPECTED_PLACES, .heading = "Places"},
    {.field = JOB_FIELD_WAITS_FOR, .heading = "Waits for", .show = show_waits_for},
    {.field = JOB_FIELD_RESERVE, .heading = "Reservation", .show = show_reserve},
    {.field = JOB_FIELD_HELD, .heading = "Held"},
    {.field = JOB_FIELD_DEPENDENCY, .heading = "Dependency"},
    {.field = JOB_FIELD_RESTARTS, .heading = "Restarts"},
    {.field = JOB_FIELD_ARRAY_TASKS, .heading = "Tasks", .show = show_tasks},
    {.field = JOB_FIELD_SUBMIT, .heading = "Submitted"},
    {.field = JOB_FIELD_BEGIN, .heading = "Begin"},
    {.field = JOB_FIELD_DEADLINE, .heading = "Deadline"},
    {.field = JOB_FIELD_IMMEDIATE, .heading = "Immediate", .show = show_immediate},
    {.field = JOB_FIELD_START, .heading = "Started"},
    {.field = JOB_FIELD_END, .heading = "Ended"},
    {.computed = &elapsed_field, .compute = compute_elapsed, .heading = "Elapsed"},
    {.field = JOB_FIELD_SUSPENDED_FROM, .heading = "Stopped since"},
    {.computed = &suspended_field, .compute = compute_suspended, .heading = "Suspended", .zero_is_absent = true},
    {.field = JOB_FIELD_TIME_LIMIT, .heading = "Time limit", .show = show_time_limit_and_origin},
    {.field = JOB_FIELD_CPUS, .heading = "CPUs", .show = show_slots},
    {.field = JOB_FIELD_HOSTS, .heading = "Hosts"},
    {.field = JOB_FIELD_CPU_IDS, .heading = "CPU numbers"},
    {.field = JOB_FIELD_NODES, .heading = "Nodes", .show = show_nodes},
    {.field = JOB_FIELD_MEM_MIB, .heading = "Memory"},
    {.field = JOB_FIELD_MEM_PER_CPU, .heading = "Mem per CPU", .zero_is_absent = true},
    {.field = JOB_FIELD_MAX_RSS, .heading = "Peak memory", .show = show_max_memory},
    {.field = JOB_FIELD_CPU_TIME, .heading = "CPU time", .show = show_cpu_time},
    {.field = JOB_FIELD_MEM_TIME, .heading = "Memory time", .show = show_memory_time},
    {.field = JOB_FIELD_IO, .heading = "I/O", .show = show_io},
    {.field = JOB_FIELD_GPUS, .heading = "GPUs", .zero_is_absent = true},
    {.field = JOB_FIELD_GPUS_PER_SLOT, .heading = "GPUs per slot", .zero_is_absent = true},
    {.field = JOB_FIELD_GPU_IDS, .heading = "GPU numbers"},
    {.field = JOB_FIELD_REQUESTS, .heading = "Requests"},
    {.field = JOB_FIELD_SOFT, .heading = "Soft requests"},
    {.field = JOB_FIELD_QUEUES, .heading = "Queues"},
    {.field = JOB_FIELD_MASTER_QUEUES, .heading = "Master queues"},
    {.field = JOB_FIELD_SOFT_QUEUES, .heading = "Soft queues"},
    {.field = JOB_FIELD_CONSTRAINT, .heading = "Constraint"},
    {.field = JOB_FIELD_ENVIRONMENT, .heading = "PE"},
    {.field = JOB_FIELD_TRES, .heading = "TRES", .show = show_tres},
    {.field = JOB_FIELD_BILLING, .heading = "Billing"},
    {.field = JOB_FIELD_COMMAND, .heading = "Command"},
    {.field = JOB_FIELD_DIRECTORY, .heading = "Directory"},
    {.field = JOB_FIELD_OUT_PATH, .heading = "Output"},
    {.field = JOB_FIELD_ERR_PATH, .heading = "Error output"},
};

/* What tasks have of their own is in their totals, or in the block of a task. */
static const struct column show_array[] = {
    {.field = JOB_FIELD_NAME, .heading = "Name"},
    {.field = JOB_FIELD_COMMENT, .heading = "Comment"},
    {.field = JOB_FIELD_ADMIN_COMMENT, .heading = "Admin comment"},
    {.field = JOB_FIELD_ORIGIN, .heading = "Moved in from"},
    {.field = JOB_FIELD_USER, .heading = "User"},
    {.field = JOB_FIELD_ACCOUNT, .heading = "Account"},
    {.field = JOB_FIELD_PROJECT, .heading = "Project"},
    {.field = JOB_FIELD_PARTITION, .heading = "Partition"},
    {.field = JOB_FIELD_QOS, .heading = "QOS"},
    {.field = JOB_FIELD_SET_PRIORITY, .heading = "Adjustments", .show = show_priority},
    {.field = JOB_FIELD_OVERRIDE_TICKETS, .heading = "Own tickets", .show = show_tickets},
    {.field = JOB_FIELD_RESERVE, .heading = "Reservation", .show = show_reserve},
    {.field = JOB_FIELD_SUBMIT, .heading = "Submitted"},
    {.field = JOB_FIELD_BEGIN, .heading = "Begin"},
    {.field = JOB_FIELD_DEADLINE, .heading = "Deadline"},
    {.field = JOB_FIELD_TIME_LIMIT, .heading = "Time limit", .show = show_time_limit_and_origin},
    {.field = JOB_FIELD_CPUS, .heading = "CPUs", .show = show_slots},
    {.field = JOB_FIELD_NODES, .heading = "Nodes", .show = show_nodes},
    {.field = JOB_FIELD_MEM_MIB, .heading = "Memory"},
    {.field = JOB_FIELD_MEM_PER_CPU, .heading = "Mem per CPU", .zero_is_absent = true},
    {.field = JOB_FIELD_GPUS, .heading = "GPUs", .zero_is_absent = true},
    {.field = JOB_FIELD_GPUS_PER_SLOT, .heading = "GPUs per slot", .zero_is_absent = true},
    {.field = JOB_FIELD_REQUESTS, .heading = "Requests"},
    {.field = JOB_FIELD_SOFT, .heading = "Soft requests"},
    {.field = JOB_FIELD_QUEUES, .heading = "Queues"},
    {.field = JOB_FIELD_MASTER_QUEUES, .heading = "Master queues"},
    {.field = JOB_FIELD_SOFT_QUEUES, .heading = "Soft queues"},
    {.field = JOB_FIELD_CONSTRAINT, .heading = "Constraint"},
    {.field = JOB_FIELD_ENVIRONMENT, .heading = "PE"},
    {.field = JOB_FIELD_TRES, .heading = "TRES", .show = show_tres},
    {.field = JOB_FIELD_BILLING, .heading = "Billing"},
    {.field = JOB_FIELD_COMMAND, .heading = "Command"},
    {.field = JOB_FIELD_DIRECTORY, .heading = "Directory"},
};

/* Each accepts the headings of another one: history -o limit. */
#define TABLE(columns_of, other)                                                                       \
    {                                                                                                  \
        .fields = &job_fields, .columns = columns_of, .count = sizeof columns_of / sizeof *columns_of, \
        .related = other                                                                               \
    }

const struct column_table job_columns_queue = TABLE(queue, &job_columns_history),
                          job_columns_start = TABLE(start, &job_columns_queue),
                          job_columns_history = TABLE(history, &job_columns_queue),
                          job_columns_show = TABLE(show_job, NULL), job_columns_array = TABLE(show_array, NULL);
