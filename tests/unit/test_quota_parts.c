/* What an allocation over several hosts and queues takes of pools: the check before it is placed counts as the booking
 * does. */
#include "cluster_world.h"

#include "sched/quota.h"

enum { HOSTS = 3, QUEUES = 2, POOLS = 2, PARTS = 4 };

/* Queues a and b on n1 to n3; each queue has a pool. */
struct fixture {
    struct cluster_world w;
    struct sched_pools pools;
    uint32_t pool_of[HOSTS * QUEUES];
    struct demand_quota quota;
    struct need needs[2];
    struct demand demand;
};

static void make(struct fixture *f)
{
    static const char *const hosts[HOSTS] = {"n1", "n2", "n3"}, *const instances[] = {"a@n1", "b@n1", "a@n2",
                                                                                      "b@n2", "a@n3", "b@n3"};
    *f = (struct fixture){0};
    world_init(&f->w);
    for (uint32_t h = 0; h < HOSTS; h++) {
        world_host(&f->w, hosts[h]);
        for (uint32_t q = 0; q < QUEUES; q++) world_instance(&f->w, instances[h * QUEUES + q], 4);
    }
    for (uint32_t p = 0; p < POOLS; p++) {
        *array_add(&f->pools.list) = (struct sched_pool){.set = "queues", .rule = "queues/1", .text = "///a//"};
        world_offer(&f->pools.list.items[p].offers, SCHED_SLOTS, 100);
        world_offer(&f->pools.list.items[p].offers, MEMORY, 100);
        world_offer(&f->pools.list.items[p].offers, TOKEN, 100);
    }
    for (uint32_t i = 0; i < HOSTS * QUEUES; i++) f->pool_of[i] = i % QUEUES;
    f->quota = (struct demand_quota){NONE, f->pool_of};
    f->needs[0] = (struct need){.resource = TOKEN, .scope = NEED_PER_JOB, .amount = 3};
    f->needs[1] = (struct need){.resource = MEMORY, .scope = NEED_PER_HOST, .amount = 5};
    f->demand = (struct demand){.shape = NONE,
                                .needs = f->needs,
                                .need_count = 2,
                                .host_min = 1,
                                .host_max = HOSTS,
                                .duration_us = 10 * SECOND,
                                .quotas = &f->quota,
                                .quota_count = 1};
    f->w.c.pools = &f->pools;
}

static void release(struct fixture *f)
{
    for (uint32_t p = 0; p < POOLS; p++) offers_release(&f->pools.list.items[p].offers);
    array_release(&f->pools.list);
    world_release(&f->w);
}

static struct offer *offer_of(struct fixture *f, uint32_t pool, uint32_t resource)
{
    return offers_find(&f->pools.list.items[pool].offers, resource);
}

/* Each pool and resource in turn has just what the booking takes, and then one less. */
static void assert_counts_as_booked(struct fixture *f, const struct allocation *a)
{
    static const uint32_t resources[] = {SCHED_SLOTS, MEMORY, TOKEN};
    const struct window window = {0, 10 * SECOND};
    for (uint32_t p = 0; p < POOLS; p++) {
        for (size_t r = 0; r < sizeof resources / sizeof *resources; r++) {
            struct offer *o = offer_of(f, p, resources[r]);
            cluster_book(&f->w.c, &f->demand, a, window.from_us, window.until_us);
            double booked = timeline_max(&o->booked, window.from_us, window.until_us);
            cluster_unbook(&f->w.c, &f->demand, a, window.from_us, window.until_us);
            o->amount = booked;
            assert_true(quota_allows(&f->w.c, &f->demand, a, window));
            o->amount = booked - 1;
            assert_int_equal(quota_allows(&f->w.c, &f->demand, a, window), booked <= 0.0);
            o->amount = 100;
        }
    }
}

/* a@n1 is the first part on n1, so pool b is charged for a host on n2 only; on n3 it is the other way round. */
static void later_parts_on_a_host_count_no_host(void **unused)
{
    (void)unused;
    struct fixture f;
    struct allocation_part parts[PARTS] = {{0, 2}, {1, 1}, {3, 1}, {4, 2}};
    const struct allocation a = {.environment = NONE, .slots = 6, .part_count = PARTS, .parts = parts};
    make(&f);
    assert_counts_as_booked(&f, &a);
    cluster_book(&f.w.c, &f.demand, &a, 0, 10 * SECOND);
    assert_true(timeline_max(&offer_of(&f, 0, MEMORY)->booked, 0, SECOND) == 2 * 5);
    assert_true(timeline_max(&offer_of(&f, 1, MEMORY)->booked, 0, SECOND) == 1 * 5);
    assert_true(timeline_max(&offer_of(&f, 0, TOKEN)->booked, 0, SECOND) == 3);
    assert_true(timeline_max(&offer_of(&f, 1, TOKEN)->booked, 0, SECOND) == 0);
    release(&f);
}

static void all_allocations_count_as_booked(void **unused)
{
    (void)unused;
    struct fixture f;
    make(&f);
    for (uint32_t set = 1; set < 1u << HOSTS * QUEUES; set++) {
        struct allocation_part parts[HOSTS * QUEUES];
        struct allocation a = {.environment = NONE, .parts = parts};
        for (uint32_t i = 0; i < HOSTS * QUEUES; i++) {
            if ((set >> i & 1) == 0) continue;
            parts[a.part_count++] = (struct allocation_part){i, 1 + i % 3};
            a.slots += 1 + i % 3;
        }
        assert_counts_as_booked(&f, &a);
    }
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_parts_on_a_host_count_no_host),
        cmocka_unit_test(all_allocations_count_as_booked),
    };
    return cmocka_run_group_tests_name("sched: parts of quotas", tests, NULL, NULL);
}
