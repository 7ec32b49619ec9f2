/* Whole hosts of several sizes within limits, which count all of their slots: a job gets those up to the largest size
 * that the limits admit for as many hosts as it may need. */
#include "policy_world.h"

static void add_host(struct world *w, const char *name, uint32_t cpus)
{
    const struct event host = {.kind = EVENT_HOST, .host = {.has = {cpus, 0, 1000}, .name = name}};
    world_object(w, OBJECT_HOST, name, "");
    assert_int_equal(world_apply(w, host, NULL), 0);
}

/* localhost has 4 CPUs, n2 8. */
static void build_with(struct world *w, const char *max_tres, uint32_t cpus_of_n3)
{
    const struct event_pair limit = {"MaxTRES", max_tres};
    const struct event modify = {
        .kind = EVENT_ACCOUNT_MODIFY,
        .account = {.name = "phys", .shares = SHARES_UNSET, .priority = PRIORITY_UNSET, .pairs = &limit, .count = 1}};
    world_init(w, 4, 1000, 0);
    world_settings(w, "AccountingStorageEnforce=associations,limits,qos reservations=none");
    add_host(w, "n2", 8);
    add_host(w, "n3", cpus_of_n3);
    world_user(w, "phys", 1, "ann");
    assert_int_equal(world_apply(w, modify, NULL), 0);
}

/* localhost has 4 CPUs, n2 8, n3 4. */
static void build(struct world *w, const char *max_tres)
{
    build_with(w, max_tres, 4);
}

/* The hosts of the job, "localhost,n3", or "" while it waits. */
static const char *hosts_of(struct world *w, uint32_t id)
{
    static char text[TEXT_MAX];
    const struct task *k = world_task(w, id, 0);
    text[0] = '\0';
    for (uint32_t i = 0; k != NULL && i < k->placement_count; i++) {
        const char *name = w->s.objects[OBJECT_HOST].items[k->placements[i].host].object.name;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? "," : "", name);
    }
    return text;
}

static void limits_bound_the_size_of_whole_hosts(void **unused)
{
    (void)unused;
    static const struct {
        const char *max_tres, *job, *hosts[3]; /* of three such jobs, one after the other */
    } rows[] = {
        {"cpu=100", "cpus=1", {"localhost", "n2", "n3"}},
        {"cpu=8", "cpus=1", {"localhost", "n2", "n3"}},
        {"cpu=7", "cpus=1", {"localhost", "n3", ""}}, /* not n2, though that is empty */
        {"cpu=4", "cpus=1", {"localhost", "n3", ""}},
        {"cpu=3", "cpus=1", {"", "", ""}},
        {"cpu=8", "cpus=5", {"n2", "", ""}},
        {"cpu=7", "cpus=5", {"", "", ""}},
        {"cpu=100", "cpus=5|nodes=1-2", {"n2", "localhost,n3", ""}},
        {"cpu=8", "cpus=5|nodes=1-2", {"localhost,n3", "", ""}}, /* two hosts may be needed, and not 16 CPUs be had */
        {"cpu=16", "cpus=2|nodes=2", {"localhost,n2", "", ""}},
        {"cpu=15", "cpus=2|nodes=2", {"localhost,n3", "", ""}},
        {"cpu=12", "cpus=9|nodes=2", {"localhost,n2", "", ""}}, /* 4 and 4 are too few */
        {"cpu=11", "cpus=9|nodes=2", {"", "", ""}},
        {"cpu=15", "cpus=3|nodes=3", {"", "", ""}}, /* 16 at least */
        {"cpu=16", "cpus=3|nodes=3", {"localhost,n2,n3", "", ""}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        build(&w, rows[i].max_tres);
        for (size_t k = 0; k < 3; k++) {
            struct event event = world_job("ann");
            event.submit = job_with(job_text("name=job|directory=/home/x|command=true|mem_mib=1"),
                                    "account=phys|exclusive=true|%s", rows[i].job);
            uint32_t id = world_take(&w, event);
            (void)world_pass(&w);
            print_message("# %s, %s: %zu\n", rows[i].max_tres, rows[i].job, k);
            assert_string_equal(hosts_of(&w, id), rows[i].hosts[k]);
        }
        world_release(&w);
    }
}

static uint32_t submit(struct world *w, const char *job)
{
    struct event event = world_job("ann");
    event.submit =
        job_with(job_text("name=job|directory=/home/x|command=true|mem_mib=1"), "account=phys|exclusive=true|%s", job);
    return world_take(w, event);
}

/* Of equal hosts the one that is free. localhost has 4 CPUs, n2 and n3 8, so that only localhost and one of these are
 * within the limit. */
static void hosts_that_are_free_are_taken(void **unused)
{
    (void)unused;
    struct world w;
    build_with(&w, "cpu=12", 8);
    uint32_t large = submit(&w, "cpus=5"), pair = submit(&w, "cpus=2|nodes=2"), next = submit(&w, "cpus=2|nodes=2");
    (void)world_pass(&w);
    assert_string_equal(hosts_of(&w, large), "n2");
    assert_string_equal(hosts_of(&w, pair), "localhost,n3");
    assert_string_equal(hosts_of(&w, next), "");
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(limits_bound_the_size_of_whole_hosts),
                                       cmocka_unit_test(hosts_that_are_free_are_taken)};
    return cmocka_run_group_tests_name("whole hosts within limits", tests, NULL, NULL);
}
