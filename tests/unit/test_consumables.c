/* Consumables: the number of slots for which the free amounts suffice. */
#include "dies.h"
#include "sched/consumables.h"

enum { LICENSE, SCRATCH, UNLIMITED, RESOURCE_COUNT };

static void the_scarcest_resource_limits_the_slots(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct consumables c;
    consumables_init(&c, RESOURCE_COUNT, &arena);
    c.free[LICENSE] = 5;
    c.free[SCRATCH] = 1;
    const struct {
        const char *name;
        struct consumable_need needs[2];
        uint32_t max, slots;
    } rows[] = {
        {.name = "limited by the free amount", .needs = {{LICENSE, 1}, {UNLIMITED, 1e18}}, .max = 8, .slots = 5},
        {.name = "limited by the maximum", .needs = {{LICENSE, 1}, {UNLIMITED, 1}}, .max = 3, .slots = 3},
        {.name = "the scarcest resource decides", .needs = {{LICENSE, 2}, {SCRATCH, 1}}, .max = 8, .slots = 1},
        {.name = "not enough for one slot", .needs = {{LICENSE, 6}, {SCRATCH, 1}}, .max = 8, .slots = 0},
        {.name = "needs of 0", .needs = {{LICENSE, 0}, {SCRATCH, 0}}, .max = 8, .slots = 8},
        {.name = "ten tenths", .needs = {{SCRATCH, 0.1}, {UNLIMITED, 1}}, .max = 100, .slots = 10},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("# %s\n", rows[i].name);
        assert_int_equal(consumables_slots(&c, rows[i].needs, 2, rows[i].max), rows[i].slots);
    }
    arena_release(&arena);
}

static void taken_amounts_are_not_free(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct consumables c;
    consumables_init(&c, RESOURCE_COUNT, &arena);
    c.free[LICENSE] = 5;
    c.free[SCRATCH] = 1;
    const struct consumable_need tenth = {SCRATCH, 0.1}, two_licenses = {LICENSE, 2}, half_license = {LICENSE, 0.5};
    for (int i = 0; i < 9; i++) consumables_take(&c, &tenth, 1, 1);
    assert_int_equal(consumables_slots(&c, &tenth, 1, 100), 1);
    consumables_take(&c, &two_licenses, 1, 3); /* one more than exists */
    assert_int_equal(consumables_slots(&c, &half_license, 1, 100), 0);
    arena_release(&arena);
}

static void take_unknown_resource(void)
{
    struct arena arena = {0};
    struct consumables c;
    consumables_init(&c, 1, &arena);
    consumables_take(&c, &(struct consumable_need){1, 1}, 1, 1);
}

static void test_preconditions(void **unused)
{
    (void)unused;
    assert_true(dies(take_unknown_resource));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scarcest_resource_limits_the_slots),
        cmocka_unit_test(taken_amounts_are_not_free),
        cmocka_unit_test(test_preconditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
