/* The rows that policies need: objects, usage of owners, usage by TRES, the terms of jobs. Every value is loaded as it
 * was stored, and invalid rows are named. */
#include "store_house.h"

#include <float.h>

#include "base/number.h"
#include "policy/tres_text.h"
#include "store/internal.h"

static void house_open(struct house *h)
{
    house_build(h, (struct capacity){8, 2, 4096});
}

/* Commits, and replaces the state by the stored one. */
static void commit_and_load(struct house *h)
{
    struct state rebuilt;
    house_commit(h);
    store_must_load(h->store, &rebuilt);
    assert_true(state_hash(&rebuilt) == state_hash(&h->w.s));
    state_release(&h->w.s);
    h->w.s = rebuilt;
    house_set_host(h, (struct capacity){8, 2, 4096});
}

/* fields: "KEY=VALUE KEY=VALUE"; a value contains no blank. */
static void change(struct house *h, enum event_kind event_kind, enum object_kind kind, const char *name,
                   const char *fields)
{
    struct event_pair pairs[OBJECT_FIELDS_MAX];
    struct arena arena = {0};
    uint32_t count = 0;
    for (struct str rest = str(fields[0] ? fields : NULL); rest.text != NULL; count++) {
        struct str value, key = str_cut(str_cut(rest, ' ', &rest), '=', &value);
        pairs[count] = (struct event_pair){arena_copy(&arena, key), arena_copy(&arena, value)};
    }
    struct event event = {.kind = event_kind, .object = {kind, name, pairs, count}};
    if (world_apply(&h->w, event, NULL) != 0) fail_msg("%s: %s", name, ERR_SENTENCE(&h->w.e));
    arena_release(&arena);
}

static void add(struct house *h, enum object_kind kind, const char *name, const char *fields)
{
    change(h, EVENT_OBJECT_ADD, kind, name, fields);
}

/* --- columns ------------------------------------------------------------------------------------------------------ */

static void columns_have_the_names_of_fields(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *column;
        enum field_type type;
    } rows[] = {
        {"PriorityJobFactor", "priority_job_factor", FIELD_NUMBER},
        {"TRESBillingWeights", "tres_billing_weights", FIELD_TEXT},
        {"MaxTime", "max_time_s", FIELD_MINUTES},
        {"usage_factor", "usage_factor", FIELD_REAL},
        {"Half_Life", "half_life_s", FIELD_HOURS},
        {"MaxRAM", "max_ram_mib", FIELD_MEMORY},
        {"MaxCPUsPerNode", "max_cpus_per_node", FIELD_NUMBER},
        {"DefMemPerCPU", "def_mem_per_cpu_mib", FIELD_MEMORY},
        {"A", "a", FIELD_BOOL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct field f = {.name = rows[i].name, .type = rows[i].type};
        struct buf column = {0};
        object_column(&f, &column);
        assert_string_equal(column.text, rows[i].column);
        buf_release(&column);
    }
}

static void every_field_has_its_column(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    for (int k = 0; k < OBJECT_KIND_COUNT; k++) {
        const struct object_class *class = &object_classes[k];
        const char *table = object_table((enum object_kind)k);
        struct buf column = {0}, query = {0};
        char count[8];
        for (uint32_t i = 0; i < class->field_count; i++) {
            buf_clear(&column);
            buf_clear(&query);
            object_column(&class->fields[i], &column);
            buf_format(&query, "SELECT count(*) FROM pragma_table_info('%s') WHERE name = '%s'", table, column.text);
            assert_sql(h.directory, query.text, "1");
        }
        buf_clear(&query);
        buf_format(&query, "SELECT count(*) FROM pragma_table_info('%s')", table);
        snprintf(count, sizeof count, "%u", class->field_count + 3 + (k == OBJECT_QOS ? 4 : 0));
        assert_sql(h.directory, query.text, count);
        buf_release(&column);
        buf_release(&query);
    }
    house_close(&h);
}

/* --- objects ------------------------------------------------------------------------------------------------------ */

static void objects_are_stored_unchanged(void **unused)
{
    (void)unused;
    static const struct {
        enum object_kind kind;
        const char *name, *fields, *query, *stored;
    } rows[] = {
        {OBJECT_PARTITION, "select", "", "SELECT max_time_s IS NULL AND tres_billing_weights = '' FROM partition", "1"},
        {OBJECT_PARTITION, "\xc3\xbc;--%s",
         "PriorityJobFactor=65533 PriorityTier=0 MaxTime=7-12 TRESBillingWeights=CPU=-1.0,Mem=0.25G fshare=4294967295 "
         "oticket=1",
         "SELECT max_time_s || tres_billing_weights || fshare FROM partition WHERE name = '\xc3\xbc;--%s'",
         "648000CPU=-1.0,Mem=0.25G4294967295"},
        {OBJECT_QOS, "a=b",
         "priority=4294967295 usage_factor=1e9 usage_threshold=0.1 flags=NoDecay,EnforceUsageThreshold",
         "SELECT priority || flags FROM qos WHERE name = 'a=b'", "4294967295NoDecay,EnforceUsageThreshold"},
        {OBJECT_QOS, "least", "usage_factor=5e-324 usage_threshold=1", "SELECT usage_factor > 0 FROM qos WHERE id = 3",
         "1"},
        {OBJECT_DEPARTMENT, "dep", "fshare=1 oticket=2", "SELECT fshare || oticket FROM department", "12"},
        {OBJECT_USER_POLICY, "order", "fshare=3 oticket=4294967295 department=dep deadline=yes",
         "SELECT department || deadline FROM user_policy", "dep1"},
        {OBJECT_USER_POLICY, "by", "", "SELECT department || deadline FROM user_policy WHERE name = 'by'",
         "defaultdepartment0"},
        {OBJECT_PROJECT, "NULL", "fshare=7", "SELECT fshare FROM project WHERE name = 'NULL'", "7"},
        {OBJECT_RESOURCE, "license", "type=INT urgency=-1e18 amount=9000000000000000", "SELECT amount FROM resource",
         "9000000000000000"},
        {OBJECT_RESOURCE, "host", "type=RESTRING urgency=0.1 amount=UNLIMITED",
         "SELECT type FROM resource WHERE amount IS NULL", "RESTRING"},
    };
    struct house h;
    house_open(&h);
    for (size_t i = 0; i < COUNT(rows); i++) {
        add(&h, rows[i].kind, rows[i].name, rows[i].fields);
        h.w.now_us += 1;
        commit_and_load(&h);
        assert_sql(h.directory, rows[i].query, rows[i].stored);
        assert_int_not_equal(state_find_object(&h.w.s, rows[i].kind, rows[i].name), NONE);
    }
    change(&h, EVENT_OBJECT_MODIFY, OBJECT_PARTITION, "\xc3\xbc;--%s", "MaxTime=UNLIMITED TRESBillingWeights=");
    change(&h, EVENT_OBJECT_MODIFY, OBJECT_QOS, "a=b", "flags=");
    commit_and_load(&h);
    assert_sql(h.directory, "SELECT count(*) FROM partition WHERE max_time_s IS NULL", "3");
    house_close(&h);
}

static void a_new_store_has_a_partition_and_a_qos(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    assert_sql(h.directory, "SELECT name || id || priority_tier FROM partition", "main11");
    assert_sql(h.directory, "SELECT name || id || usage_factor FROM qos", "normal11.0");
    house_close(&h);
}

/* Ids are reused; only the row of the deleted object is removed. */
static void deleted_objects_are_removed(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    add(&h, OBJECT_PROJECT, "old", "fshare=1");
    commit_and_load(&h);
    change(&h, EVENT_OBJECT_DELETE, OBJECT_PROJECT, "old", "");
    add(&h, OBJECT_PROJECT, "new", "fshare=2");
    commit_and_load(&h);
    assert_sql(h.directory, "SELECT group_concat(id || name || fshare) FROM project", "1new2");
    change(&h, EVENT_OBJECT_DELETE, OBJECT_PROJECT, "new", "");
    add(&h, OBJECT_PROJECT, "new", "fshare=3");
    commit_and_load(&h);
    assert_sql(h.directory, "SELECT group_concat(id || name || fshare) FROM project", "1new3");
    h.w.now_us += 1;
    change(&h, EVENT_OBJECT_DELETE, OBJECT_PROJECT, "new", "");
    store_must_commit(h.store, &h.w.s, &h.w.out, h.w.now_us);
    assert_sql(h.directory, "SELECT count(*) FROM project", "0");
    add(&h, OBJECT_PROJECT, "again", "");
    *array_add(&h.w.out.changes) =
        (struct change){TABLE_OBJECT, object_change(OBJECT_PROJECT, 0)}; /* the deleted one */
    commit_and_load(&h);
    assert_sql(h.directory, "SELECT name FROM project", "again");
    house_close(&h);
}

/* --- amounts ------------------------------------------------------------------------------------------------------ */

static const double extremes[] = {5e-324,    DBL_MIN, USAGE_AMOUNT_MAX, DBL_EPSILON,       1e22, 123456789012345678.0,
                                  1.0 / 3.0, 1e18,    0.1 + 0.2,        9007199254740993.0};

static void usage_is_stored_exactly(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    world_user(&h.w, "physics", 1, "ann");
    for (size_t i = 0; i < COUNT(extremes); i++) {
        struct assoc *a = &h.w.s.assocs.items[state_find_assoc(&h.w.s, "physics", "ann")];
        mem_free(a->usage_tres);
        a->usage_tres = mem_resize(NULL, 0, TRES_MAX * sizeof(double));
        a->usage = extremes[i];
        a->usage_tres[TRES_CPU] = extremes[(i + 1) % COUNT(extremes)];
        a->usage_tres[TRES_MEM] = 0.0;
        a->usage_tres[TRES_STATIC_COUNT] = extremes[(i + 2) % COUNT(extremes)];
        a->priority = i % 2 ? UINT32_MAX - 1 : 0;
        a->usage_wall = extremes[(i + 4) % COUNT(extremes)];
        struct object_row *q = &h.w.s.objects[OBJECT_QOS].items[0];
        q->usage = extremes[(i + 3) % COUNT(extremes)];
        q->usage_wall = extremes[(i + 5) % COUNT(extremes)];
        mem_free(q->usage_tres);
        q->usage_tres = mem_resize(NULL, 0, TRES_MAX * sizeof(double));
        q->usage_tres[TRES_MEM] = extremes[(i + 6) % COUNT(extremes)];
        *array_add(&h.w.out.changes) = (struct change){TABLE_ASSOC, (uint32_t)(a - h.w.s.assocs.items)};
        *array_add(&h.w.out.changes) = (struct change){TABLE_OBJECT, object_change(OBJECT_QOS, 0)};
        commit_and_load(&h);
        a = &h.w.s.assocs.items[state_find_assoc(&h.w.s, "physics", "ann")];
        assert_memory_equal(&a->usage, &extremes[i], sizeof(double));
        assert_memory_equal(&a->usage_tres[TRES_CPU], &extremes[(i + 1) % COUNT(extremes)], sizeof(double));
        assert_memory_equal(&a->usage_wall, &extremes[(i + 4) % COUNT(extremes)], sizeof(double));
        q = &h.w.s.objects[OBJECT_QOS].items[0];
        assert_memory_equal(&q->usage, &extremes[(i + 3) % COUNT(extremes)], sizeof(double));
        assert_memory_equal(&q->usage_wall, &extremes[(i + 5) % COUNT(extremes)], sizeof(double));
        assert_memory_equal(&q->usage_tres[TRES_MEM], &extremes[(i + 6) % COUNT(extremes)], sizeof(double));
        assert_int_equal(a->priority, i % 2 ? UINT32_MAX - 1 : 0);
    }
    assert_sql(h.directory, "SELECT usage_tres FROM association WHERE user = 'ann'",
               "cpu=5e-324,gres/gpu=2.2250738585072014e-308");
    assert_sql(h.directory, "SELECT count(*) FROM association WHERE usage_tres IS NULL AND priority IS NULL", "2");
    house_close(&h);
}

static void usage_of_owners_is_stored_exactly(void **unused)
{
    (void)unused;
    static const char *const names[][2] = {{"ann", ""}, {"", "ann"}, {"", ""}, {"\xc3\xbc", "'; --"}, {"a", "b"}};
    struct house h;
    house_open(&h);
    for (size_t i = 0; i < COUNT(names); i++) {
        struct usage_owner o = {names[i][0], names[i][1], {{0}}, NOW_US + (int64_t)i, i % 2 ? 0 : NOW_US - (int64_t)i};
        for (size_t r = 0; r < USAGE_RESOURCE_COUNT; r++) o.usage.used[r] = extremes[(i + r) % COUNT(extremes)];
        state_restore_owner(&h.w.s, &o);
        *array_add(&h.w.out.changes) = (struct change){TABLE_OWNER, (uint32_t)i};
    }
    commit_and_load(&h);
    assert_int_equal(h.w.s.owners.count, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++) {
        for (uint32_t k = 0; k < h.w.s.owners.count; k++) {
            const struct usage_owner *o = &h.w.s.owners.items[k];
            if (strcmp(o->user, names[i][0]) != 0 || strcmp(o->project, names[i][1]) != 0) continue;
            assert_int_equal(o->at_us, NOW_US + (int64_t)i);
            for (size_t r = 0; r < USAGE_RESOURCE_COUNT; r++)
                assert_memory_equal(&o->usage.used[r], &extremes[(i + r) % COUNT(extremes)], sizeof(double));
            h.w.s.owners.items[k].usage.used[USAGE_IO] = 7.0;
            *array_add(&h.w.out.changes) = (struct change){TABLE_OWNER, k};
        }
    }
    commit_and_load(&h);
    assert_sql(h.directory, "SELECT count(*) FROM owner_usage WHERE io_gib = 7", "5");
    house_close(&h);
}

static void invalid_lists_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"cpu=1,nothing=2", "TRES: 'nothing' is not one that AccountingStorageTRES names"},
        {"cpu", "cpu: '' is not a number"},
        {"cpu=", "cpu: '' is not a number"},
        {"cpu=x", "cpu: 'x' is not a number"},
        {"cpu=inf", "cpu: 'inf' is not a number"},
        {"cpu=nan", "cpu: 'nan' is not a number"},
        {"mem=1,cpu=1", "'cpu' is named twice or out of order"},
        {"cpu=1,cpu=1", "'cpu' is named twice or out of order"},
        {"cpu=1,", NULL},
        {"cpu=1,,mem=1", "TRES: '' is not one that AccountingStorageTRES names"},
        {"", NULL},
    };
    struct state s;
    state_init(&s, NOW_US);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e = {0};
        struct tres_list list = {0};
        double *usage = NULL;
        int expected = rows[i].error ? -1 : 0;
        assert_int_equal(tres_text_parse(&s.policy.tres, str(rows[i].text), &usage, &e), expected);
        assert_int_equal(tres_text_parse_list(&s.policy.tres, str(rows[i].text), &list, NULL), expected);
        if (expected != 0 && strstr(ERR_SENTENCE(&e), rows[i].error) == NULL)
            fail_msg("%s: '%s'", rows[i].text, ERR_SENTENCE(&e));
        mem_free(usage);
        mem_free(list.items);
    }
    state_release(&s);
}

/* --- jobs --------------------------------------------------------------------------------------------------------- */

static void add_objects_of_jobs(struct house *h)
{
    add(h, OBJECT_PARTITION, "fast", "PriorityTier=2");
    add(h, OBJECT_PARTITION, "\xc3\xa9t\xc3\xa9", "");
    add(h, OBJECT_QOS, "good=best", "usage_factor=0.5");
    add(h, OBJECT_PROJECT, "apollo", "");
    add(h, OBJECT_RESOURCE, "license", "type=INT amount=100");
    add(h, OBJECT_RESOURCE, "arch", "type=STRING");
    add(h, OBJECT_RESOURCE, "scratch", "type=MEMORY");
    add(h, OBJECT_RESOURCE, "bigio", "type=BOOL");
    add(h, OBJECT_USER_POLICY, "ann", "deadline=yes");
}

static uint32_t submit(struct house *h, const char *terms)
{
    struct event event = world_submission("ann", NULL, 2);
    uint32_t id = 0;
    event.actor.role = ROLE_ADMINISTRATOR;
    event.submit = job_with(event.submit, "%s", terms);
    if (world_apply(&h->w, event, &id) != 0) fail_msg("%s", ERR_SENTENCE(&h->w.e));
    return id;
}

static void terms_of_jobs_are_stored_unchanged(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    add_objects_of_jobs(&h);
    submit(&h, "");
    submit(&h, "partitions=\xc3\xa9t\xc3\xa9,main,fast|qos=good=best|project=apollo|"
               "requests=license=2,arch=lx=amd64,scratch=1.5G,bigio=TRUE|nice=-2147483645|site=2147483645|"
               "posix_priority=-1023|job_share=4294967295|override_tickets=4294967295|set_priority=4294967294|"
               "begin_us=1700001000000000|deadline_us=1700002000000000|slots_max=4");
    commit_and_load(&h);
    assert_sql(h.directory,
               "SELECT partitions || qos || nice || site || posix_priority || job_share || override_tickets || requests"
               " FROM job WHERE project IS NULL AND set_priority IS NULL AND begin_us IS NULL AND deadline_us IS NULL"
               " AND slots_max IS NULL AND accrue_us = submit_us",
               "mainnormal00000");
    assert_sql(h.directory,
               "SELECT partitions || ' ' || qos || ' ' || project || ' ' || requests FROM job WHERE id = 2",
               "\xc3\xa9t\xc3\xa9,main,fast good=best apollo license=2,arch=lx=amd64,scratch=1.5G,bigio=TRUE");
    assert_sql(h.directory,
               "SELECT ((begin_us - submit_us) / 1000000) || ' ' || ((deadline_us - submit_us) / 1000000) || ' ' ||"
               " set_priority || ' ' || slots_max || ' ' || job_share || ' ' || nice FROM job WHERE id = 2",
               "1000 2000 4294967294 4 4294967295 -2147483645");
    const struct job_values *update = job_text("partitions=fast|project=|requests=|begin_us=-1|set_priority=auto");
    if (world_apply(&h.w, world_update(2, update), NULL) != 0) fail_msg("%s", ERR_SENTENCE(&h.w.e));
    commit_and_load(&h);
    assert_sql(h.directory,
               "SELECT partitions || requests FROM job WHERE id = 2 AND project IS NULL AND begin_us IS NULL"
               " AND set_priority IS NULL",
               "fast");
    assert_int_equal(world_pass(&h.w), 2);
    commit_and_load(&h);
    assert_sql(h.directory, "SELECT group_concat(partition || ' ' || usage_factor, ',') FROM task",
               "main 1.0,fast 0.5");
    assert_sql(h.directory, "SELECT tres FROM task WHERE job_id = 1", "cpu=2,mem=1,node=1");
    house_close(&h);
}

static void invalid_rows_are_named(void **unused)
{
    (void)unused;
    static const struct {
        const char *statement, *text;
    } rows[] = {
        {"UPDATE job SET qos = 'x' WHERE id = 1", "job 1: no qos 'x'"},
        {"UPDATE job SET partitions = '' WHERE id = 1", "job 1: no partition ''"},
        {"UPDATE job SET partitions = 'fast,x' WHERE id = 2", "job 2: no partition 'x'"},
        {"UPDATE job SET partitions = 'fast,' WHERE id = 2", "job 2: no partition ''"},
        {"UPDATE job SET project = ',' WHERE id = 2", "job 2: no project ','"},
        {"UPDATE job SET requests = 'x=1' WHERE id = 2", "job 2: no resource 'x'"},
        {"UPDATE job SET requests = 'license' WHERE id = 2",
         "job 2: resource 'license': amount: '' is not a whole number"},
        {"UPDATE job SET requests = 'bigio=true,license=x' WHERE id = 2",
         "job 2: resource 'license': amount: 'x' is not"},
        {"UPDATE job SET nice = 3000000000 WHERE id = 2", "job 2: nice: '3000000000' is not a whole number"},
        {"UPDATE job SET set_priority = 4294967295 WHERE id = 2",
         "job 2: set_priority: '4294967295' is not a whole number from 1 to 4294967294"},
        {"UPDATE job SET job_share = -1 WHERE id = 2", "job 2: job_share: '-1' is not a whole number"},
        {"DELETE FROM project", "job 2: no project 'apollo'"},
        {"DELETE FROM partition", "job 1: no partition 'main'"},
        {"UPDATE qos SET name = 'other' WHERE name = 'normal'", "job 1: no qos 'normal'"},
        {"UPDATE task SET partition = 'x'", "task of job 1: no partition 'x'"},
        {"UPDATE task SET tres = 'cpu=1,gres/x=1'", "task of job 1: TRES: 'gres/x' is not one"},
        {"UPDATE task SET usage_factor = -1", "task of job 1: usage_factor: '-1.0' is not a number from 0"},
        {"UPDATE task SET billing = 9e999", "task of job 1: billing: 'Inf' is not a number"},
        {"UPDATE association SET usage_tres = 'gres/x=1' WHERE id = 2",
         "association 2: usage_tres: TRES: 'gres/x' is not one"},
        {"UPDATE association SET usage_billing_s = 9e999 WHERE id = 2", "association 2: a number is out of range"},
        {"UPDATE association SET usage_billing_s = -1 WHERE id = 2", "association 2: a number is out of range"},
        {"UPDATE partition SET priority_tier = 70000 WHERE id = 1",
         "partition 1: PriorityTier: '70000' is not a whole number"},
        {"UPDATE partition SET max_time_s = 3 WHERE id = 1", "partition 1: MaxTime: '3' is not a duration"},
        {"UPDATE partition SET tres_billing_weights = 'cpu=x' WHERE id = 1", "partition 'main': TRESBillingWeights"},
        {"UPDATE qos SET usage_factor = -1 WHERE id = 2", "qos 2: usage_factor: '-1.0' is not a number"},
        {"UPDATE qos SET usage_billing_s = 9e999 WHERE id = 2", "qos 2: a number is out of range"},
        {"UPDATE qos SET usage_wall_s = -1 WHERE id = 2", "qos 2: a number is out of range"},
        {"UPDATE qos SET usage_tres = 'gres/x=1' WHERE id = 2", "qos 2: usage_tres: TRES: 'gres/x' is not one"},
        {"UPDATE association SET usage_wall_s = 9e999 WHERE id = 2", "association 2: a number is out of range"},
        {"UPDATE task SET partition_qos = 'x'", "task of job 1: "},
        {"UPDATE qos SET flags = 'Deny' WHERE id = 2", "qos 2: flags: 'Deny'"},
        {"UPDATE user_policy SET fshare = -1", "user_policy 1: fshare: '-1' is not a whole number"},
        {"UPDATE resource SET type = 'int4' WHERE id = 1", "resource 1: type: 'int4' is not one of INT, DOUBLE"},
        {"UPDATE resource SET urgency = 1e19 WHERE id = 1", "resource 1: urgency: '1.0e+19' is not a number"},
        {"INSERT INTO owner_usage VALUES('ann', 'x', 1, 1, -1, 1, 1, NULL, 0)",
         "owner_usage of user 'ann', project 'x': a number is out of range"},
        {"UPDATE setting SET value = 'gres/gpu,x' WHERE name = 'AccountingStorageTRES'",
         "AccountingStorageTRES: 'x' is"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct house h;
        struct err e = {0};
        house_open(&h);
        add_objects_of_jobs(&h);
        submit(&h, "");
        assert_int_equal(world_apply(&h.w, (struct event){.kind = EVENT_TIME, .time = {"boot"}}, NULL), 0);
        submit(&h, "project=apollo|requests=license=1");
        store_must_commit(h.store, &h.w.s, &h.w.out, h.w.now_us);
        store_sql(h.directory, rows[i].statement);
        state_release(&h.w.s);
        state_init(&h.w.s, NOW_US);
        if (store_load(h.store, &h.w.s, &e) == 0) fail_msg("%s: it was read", rows[i].statement);
        if (strstr(ERR_SENTENCE(&e), rows[i].text) == NULL || strstr(ERR_SENTENCE(&e), h.directory) == NULL)
            fail_msg("%s: '%s' is not in '%s'", rows[i].statement, rows[i].text, ERR_SENTENCE(&e));
        house_close(&h);
    }
}

/* A job without a project has NULL in the database; another program may have written the empty text. */
static void an_empty_project_is_none(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    add_objects_of_jobs(&h);
    submit(&h, "project=apollo");
    house_commit(&h);
    store_sql(h.directory, "UPDATE job SET project = ''");
    state_release(&h.w.s);
    store_must_load(h.store, &h.w.s);
    assert_int_equal(h.w.s.jobs.items[0].project, NONE);
    house_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_have_the_names_of_fields),   cmocka_unit_test(every_field_has_its_column),
        cmocka_unit_test(objects_are_stored_unchanged),       cmocka_unit_test(a_new_store_has_a_partition_and_a_qos),
        cmocka_unit_test(deleted_objects_are_removed),        cmocka_unit_test(usage_is_stored_exactly),
        cmocka_unit_test(usage_of_owners_is_stored_exactly),  cmocka_unit_test(invalid_lists_are_refused),
        cmocka_unit_test(terms_of_jobs_are_stored_unchanged), cmocka_unit_test(invalid_rows_are_named),
        cmocka_unit_test(an_empty_project_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
