/* GET /v1/shares over the socket of the server: its rows, its numbers, and its filters. */
#include "server_fixture.h"

#include "base/number.h"
#include "policy/share_table.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static void build_tree(struct fixture *f)
{
    world_user(&f->w, "physics", 60, "bob");
    world_user(&f->w, "chemistry", 40, "alice");
    assert_int_equal(
        world_apply(&f->w,
                    (struct event){.kind = EVENT_ACCOUNT_ADD, .account = {"optics", "physics", 7, PRIORITY_UNSET}},
                    NULL),
        0);
    world_user(&f->w, "optics", 7, "alice");
    struct event half = {.kind = EVENT_USER_MODIFY, .user = {"bob", "physics", SHARES_PARENT, false, PRIORITY_UNSET}};
    assert_int_equal(world_apply(&f->w, half, NULL), 0);
    world_submit(&f->w, "alice", "optics", 1);
    world_submit(&f->w, "alice", "optics", 2);
    assert_int_equal(world_pass(&f->w), 2);
    world_started(&f->w, 1);
    world_started(&f->w, 2);
    for (int i = 0; i < 3; i++) world_submit(&f->w, "alice", "optics", 4);
    f->w.now_us += 1000 * SECOND;
}

static void shares_are_listed(void **unused)
{
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    build_tree(&f);
    struct answer a = {.fd = fixture_connect(&f)};
    fixture_ask(&f, &a, "GET", "/v1/shares?format=psv", NULL);
    assert_non_null(strstr(a.head.text, "text/plain"));
    struct str rest = {a.body.text, a.body.length};
    static const char *const beginnings[] = {
        "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS",
        "root|||",
        " physics||60|0.59999999999999998|",
        "  physics|bob|parent|",
        "  optics||7|1|",
        "   optics|alice|1|1|",
        " chemistry||40|0.40000000000000002|0|0|0||inf",
        "  chemistry|alice|1|1|0|0|0|1|inf"};
    for (size_t i = 0; i < COUNT(beginnings); i++) {
        struct str line = str_cut(rest, '\n', &rest);
        if (!str_starts(line, str(beginnings[i]))) fail_msg("line %zu: %.*s", i, (int)line.length, line.text);
    }
    assert_int_equal(rest.length, 0);

    fixture_ask(&f, &a, "GET", "/v1/shares", NULL);
    assert_non_null(strstr(a.body.text,
                           "{\"account\":\"root\",\"user\":null,\"partition\":null,\"parent_account\":null,\"depth\":0,"
                           "\"raw_shares\":null,"));
    assert_non_null(strstr(
        a.body.text, "\"level_fs\":\"inf\",\"pending\":0,\"running\":0,\"running_cpus\":0,\"tres_raw\":null}\n]}\n"));
    assert_non_null(strstr(a.body.text,
                           "{\"account\":\"optics\",\"user\":null,\"partition\":null,\"parent_account\":\"physics\","
                           "\"depth\":2,\"raw_shares\":7,"));
    assert_non_null(strstr(a.body.text, "\"pending\":3,\"running\":2,\"running_cpus\":3,\"tres_raw\":null},\n"
                                        "{\"account\":\"optics\",\"user\":\"alice\""));
    close(a.fd);
    answer_release(&a);
    fixture_close(&f);
}

/* The numbers equal those of share_table_compute exactly. */
static void shares_are_exact(void **unused)
{
    struct fixture f;
    struct arena arena = {0};
    struct share_table table;
    (void)unused;
    fixture_open(&f);
    build_tree(&f);
    struct answer a = {.fd = fixture_connect(&f)};
    fixture_ask(&f, &a, "GET", "/v1/shares?format=psv", NULL);
    const double *own = state_own_usage(&f.w.s, f.w.now_us, &arena);
    share_table_compute(state_tree(&f.w.s), own, NULL, TIES_MERGE, NULL, NULL, &arena, &table);
    struct str rest = {a.body.text, a.body.length};
    str_cut(rest, '\n', &rest);
    for (uint32_t node = 0; node < table.count; node++) {
        const double expected[] = {table.norm_shares[node],     table.raw_usage[node],  table.norm_usage[node],
                                   table.effective_usage[node], table.fair_share[node], table.level_fs[node]};
        struct str cells = str_cut(rest, '\n', &rest);
        for (int i = 0; i < 3; i++) str_cut(cells, '|', &cells);
        for (size_t i = 0; i < COUNT(expected); i++) {
            double got;
            struct str cell = str_cut(cells, '|', &cells);
            assert_int_equal(cell.length == 0, expected[i] != expected[i]);
            if (cell.length > 0) assert_true(number_parse_double(cell, &got) && got == expected[i]);
        }
    }
    close(a.fd);
    answer_release(&a);
    arena_release(&arena);
    fixture_close(&f);
}

static void shares_are_filtered(void **unused)
{
    static const struct {
        const char *query;
        const char *names; /* the user of each line, or its account */
    } rows[] = {
        {"", "root physics bob optics alice chemistry alice "},
        {"&account=optics", "optics alice "},
        {"&account=physics", "physics bob optics alice "},
        {"&account=root", "root physics bob optics alice chemistry alice "},
        {"&user=alice", "root physics optics alice chemistry alice "},
        {"&user=bob", "root physics bob "},
        {"&user=alice&account=physics", "physics optics alice "},
    };
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    build_tree(&f);
    struct answer a = {.fd = fixture_connect(&f)};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char target[100];
        struct buf names = {0};
        snprintf(target, sizeof target, "/v1/shares?format=psv%s", rows[i].query);
        fixture_ask(&f, &a, "GET", target, NULL);
        struct str rest = {a.body.text, a.body.length};
        str_cut(rest, '\n', &rest);
        while (rest.length > 0) {
            struct str cells = str_cut(rest, '\n', &rest), account = str_trim(str_cut(cells, '|', &cells));
            struct str user = str_cut(cells, '|', &cells);
            buf_add_str(&names, user.length > 0 ? user : account);
            buf_add_char(&names, ' ');
        }
        assert_string_equal(names.text, rows[i].names);
        buf_release(&names);
    }
    close(a.fd);
    answer_release(&a);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_listed),
        cmocka_unit_test(shares_are_exact),
        cmocka_unit_test(shares_are_filtered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
