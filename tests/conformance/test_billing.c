/* Billing and charges against the recordings of Slurm 22.05.8: three runs of nine jobs (billing/ORIGIN.md), compared to
 * the last recorded digit. Only this test repeats Slurm's steps through time; Fairlead decays in closed form
 * (docs/formulas.md 1.2 and 3.4). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "policy/policy.h"
#include "rows.h"

#define FOLDER "tests/conformance/billing/"

enum { JOBS_MAX = 10, ASSOCS_MAX = 9, PARTITIONS_MAX = 4, QOS_MAX = 4 };

struct partition {
    const char *name;
    bool has_weights;
    double weights[TRES_MAX];
};

struct job {
    const char *user;
    const struct partition *partition;
    double usage_factor;
    struct tres_list tres;
    double billing;
};

/* In 80 bits, as in Slurm: in doubles 196.4819375 loses its last digit. */
struct assoc {
    int parent;
    const char *user;
    long double usage, wall_s, tres_s[TRES_MAX];
};

/* One recorded run, and the values computed for it. Texts are in memory of the arena. */
struct world {
    struct arena arena;
    struct settings settings;
    struct policy policy;
    struct partition partitions[PARTITIONS_MAX];
    uint32_t partition_count;
    struct {
        const char *name;
        double usage_factor;
    } qos[QOS_MAX];
    uint32_t qos_count;
    struct job jobs[JOBS_MAX];       /* by id */
    struct assoc assocs[ASSOCS_MAX]; /* by id */
};

static int compared;

static void compare(const char *recorded, int decimals, long double value)
{
    char text[64];
    snprintf(text, sizeof text, "%.*Lf", decimals, value);
    assert_string_equal(text, recorded);
    compared++;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static char *read_file(struct world *w, const char *run, const char *file)
{
    char path[256];
    text_format(path, sizeof path, FOLDER "%s%s%s", run, run[0] == '\0' ? "" : "/", file);
    char *text = rows_read(path);
    if (text == NULL) fail_msg("cannot read %s", path);
    char *copy = arena_copy(&w->arena, str(text));
    free(text);
    return copy;
}

/* The rows after the heading. */
static char *read_table(struct world *w, const char *run, const char *file)
{
    struct row heading;
    char *cursor = read_file(w, run, file);
    assert_true(rows_next(&cursor, '\n', &heading));
    return cursor;
}

static void read_partition(struct world *w, struct str line)
{
    struct partition *p = &w->partitions[w->partition_count++];
    struct err e;
    for (struct str rest = line; rest.text != NULL;) {
        struct str value, key = str_cut(str_cut(rest, ' ', &rest), '=', &value);
        if (str_equal(key, str("PartitionName"))) p->name = arena_copy(&w->arena, value);
        if (!str_equal(key, str("TRESBillingWeights"))) continue;
        p->has_weights = true;
        if (tres_weights_parse(&w->policy.tres, value, "TRESBillingWeights", p->weights, &e) != 0)
            fail_msg("%s", ERR_SENTENCE(&e));
    }
}

static void read_setting(struct world *w, struct str key, struct str value)
{
    enum setting s;
    struct err e;
    struct field_value v;
    if (setting_read(key, value, &w->arena, &s, &v, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    w->settings.value[s] = v;
}

static void read_conf(struct world *w, const char *run)
{
    struct row row;
    struct err e;
    char *cursor = read_file(w, run, "slurm.conf"), *copy = arena_copy(&w->arena, str(cursor));
    w->settings = settings_upstream_defaults();
    while (rows_next(&cursor, '\n', &row)) {
        struct str value, key = str_cut(str(row.field[0]), '=', &value);
        if (!str_equal(key, str("PartitionName")) && !str_equal(key, str("AccountingStorageEnforce")))
            read_setting(w, key, value);
    }
    if (policy_make(&w->settings, &w->arena, &w->policy, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    while (rows_next(&copy, '\n', &row))
        if (str_starts(str(row.field[0]), str("PartitionName="))) read_partition(w, str(row.field[0]));
}

static const struct partition *find_partition(const struct world *w, const char *name)
{
    uint32_t i = 0;
    while (i < w->partition_count && strcmp(w->partitions[i].name, name) != 0) i++;
    assert_true(i < w->partition_count);
    return &w->partitions[i];
}

static double find_usage_factor(const struct world *w, const char *name)
{
    uint32_t i = 0;
    while (i < w->qos_count && strcmp(w->qos[i].name, name) != 0) i++;
    assert_true(i < w->qos_count);
    return w->qos[i].usage_factor;
}

/* Removes the billing TRES from a list of sacct and returns its amount; jobs do not request it. */
static double remove_billing(struct tres_list *list)
{
    double billing = tres_amount_of(list, TRES_BILLING);
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].tres != TRES_BILLING) list->items[count++] = list->items[i];
    list->count = count;
    return billing;
}

/* Reads every job, and compares the billing of its request and of its allocation with sacct's. */
static void read_jobs(struct world *w, const char *run)
{
    struct row row;
    char *cursor = read_table(w, run, "sacct.psv");
    while (rows_next(&cursor, '|', &row)) {
        struct job *j = &w->jobs[atoi(row.field[0])];
        j->user = row.field[1];
        j->partition = find_partition(w, row.field[3]);
        j->usage_factor = find_usage_factor(w, row.field[4]);
        const double *weights = j->partition->has_weights ? j->partition->weights : NULL;
        for (int column = 11; column <= 12; column++) {
            struct err e;
            if (tres_list_parse(&w->policy.tres, str(row.field[column]), "sacct", &w->arena, &j->tres, &e) != 0)
                fail_msg("%s", ERR_SENTENCE(&e));
            double recorded = remove_billing(&j->tres);
            j->billing = billing_of(&w->policy.tres, &j->tres, weights, w->policy.billing);
            assert_true((double)billing_recorded(j->billing) == recorded);
            compared++;
        }
    }
}

static void read_world(struct world *w, const char *run)
{
    struct row row;
    *w = (struct world){.qos_count = 0};
    for (char *cursor = read_table(w, "", "qos.psv"); rows_next(&cursor, '|', &row); w->qos_count++) {
        w->qos[w->qos_count].name = row.field[0];
        w->qos[w->qos_count].usage_factor = strtod(row.field[2], NULL);
    }
    for (char *cursor = read_table(w, "", "assoc.psv"); rows_next(&cursor, '|', &row);) {
        struct assoc *a = &w->assocs[atoi(row.field[0])];
        a->parent = atoi(row.field[1]);
        a->user = row.field[3];
    }
    read_conf(w, run);
    read_jobs(w, run);
}

/* --- Slurm's steps ------------------------------------------------------------------------------------------------ */

static double decay_per_second(const struct world *w)
{
    double halflife_s = (double)setting_number(&w->settings, SET_HALFLIFE_S);
    return halflife_s > 0 ? 1 - 0.693 / halflife_s : 1;
}

static void decay(struct world *w, double seconds)
{
    double factor = pow(decay_per_second(w), seconds);
    for (int i = 0; i < ASSOCS_MAX; i++) {
        struct assoc *a = &w->assocs[i];
        a->usage *= factor;
        a->wall_s *= factor;
        for (uint32_t t = 0; t < w->policy.tres.count; t++) a->tres_s[t] *= factor;
    }
}

static int assoc_of(const struct world *w, const char *user)
{
    int id = 1;
    while (id < ASSOCS_MAX && (w->assocs[id].user == NULL || strcmp(w->assocs[id].user, user) != 0)) id++;
    assert_true(id < ASSOCS_MAX);
    return id;
}

/* Charges a slice of seconds as if all of it were that old. Usage has the unrounded billing; the usage per TRES has its
 * whole part beside the other TRES. The next rows have the usage of each association up to the root. */
static void charge(struct world *w, const struct job *j, double seconds, char **cursor)
{
    struct row row;
    double counted_s = seconds * pow(decay_per_second(w), seconds) * j->usage_factor;
    for (int id = assoc_of(w, j->user); id != 0; id = w->assocs[id].parent) {
        struct assoc *a = &w->assocs[id];
        a->usage += counted_s * j->billing;
        a->wall_s += counted_s;
        a->tres_s[TRES_BILLING] += counted_s * (double)billing_recorded(j->billing);
        for (uint32_t i = 0; i < j->tres.count; i++)
            a->tres_s[j->tres.items[i].tres] += counted_s * j->tres.items[i].amount;
        assert_true(rows_next(cursor, '\t', &row));
        assert_string_equal(row.field[0], "add");
        assert_int_equal(atoi(row.field[1]), id);
        compare(row.field[2], 6, counted_s * j->billing);
        compare(row.field[3], 6, a->usage);
        compare(row.field[4], 6, counted_s);
        compare(row.field[5], 6, a->wall_s);
    }
}

static void follow_log(struct world *w, const char *run)
{
    struct row row;
    for (char *cursor = read_file(w, run, "charges.tsv"); rows_next(&cursor, '\t', &row);) {
        if (strcmp(row.field[0], "bill") == 0) {
            compare(row.field[2], 6, w->jobs[atoi(row.field[1])].billing);
        } else if (strcmp(row.field[0], "decay") == 0) {
            double seconds = atoi(row.field[1]);
            compare(row.field[2], 15, decay_per_second(w));
            compare(row.field[3], 15, pow(decay_per_second(w), seconds));
            decay(w, seconds);
        } else {
            assert_string_equal(row.field[0], "run");
            charge(w, &w->jobs[atoi(row.field[1])], atoi(row.field[2]), &cursor);
        }
    }
}

/* Compares the state file that slurmctld wrote at its end: usage, usage per TRES by id, wall seconds. */
static void compare_saved(struct world *w, const char *run)
{
    struct row row;
    for (char *cursor = read_table(w, run, "assoc_usage.tsv"); rows_next(&cursor, '\t', &row);) {
        const struct assoc *a = &w->assocs[atoi(row.field[0])];
        struct buf per_tres = {0};
        char item[64];
        buf_add_text(&per_tres, "");
        for (uint32_t t = 0; t < w->policy.tres.count; t++) {
            if (!(a->tres_s[t] > 0)) continue;
            snprintf(item, sizeof item, "%s%u=%.6Lf", per_tres.length > 0 ? "," : "", w->policy.tres.items[t].id,
                     a->tres_s[t]);
            buf_add_text(&per_tres, item);
            compared++;
        }
        compare(row.field[1], 6, a->usage);
        assert_string_equal(per_tres.text, row.field[2]);
        compare(row.field[3], 0, floorl(a->wall_s));
        buf_release(&per_tres);
    }
}

static void follow_run(const char *run)
{
    struct world w;
    int before = compared;
    read_world(&w, run);
    follow_log(&w, run);
    compare_saved(&w, run);
    arena_release(&w.arena);
    printf("# compared %d values of billing-%s with Slurm 22.05.8: all recorded digits\n", compared - before, run);
}

static void test_sum(void **state)
{
    (void)state;
    follow_run("sum");
}

static void test_max_tres(void **state)
{
    (void)state;
    follow_run("max");
}

static void test_max_tres_with_decay(void **state)
{
    (void)state;
    follow_run("decay");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_max_tres),
        cmocka_unit_test(test_max_tres_with_decay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
