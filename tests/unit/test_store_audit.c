/* The audit log in the database: written with the change or not at all, read in pages. */
#include "store_house.h"

static const struct capacity host = {4, 0, 1024};

/* After another connection has written. */
static void reload(struct house *h)
{
    state_release(&h->w.s);
    store_must_load(h->store, &h->w.s);
}

static struct audit_entry entry_at(int64_t at_us, const char *user, const char *name)
{
    return (struct audit_entry){
        .at_us = at_us, .uid = 1000, .user = user, .command = "set", .name = name, .after = "1"};
}

/* A change, with that entry. */
static void commit_entry(struct house *h, const struct audit_entry *entry)
{
    h->w.now_us = entry->at_us;
    *array_add(&h->w.out.audit) = *entry;
    *array_add(&h->w.out.changes) = (struct change){TABLE_SETTING, SET_HOST_CPUS};
    store_must_commit(h->store, &h->w.s, &h->w.out, h->w.now_us);
}

static void assert_read(struct house *h, struct audit_query query, const char *names)
{
    struct arena arena = {0};
    struct audit_row *rows;
    struct buf text = {0};
    uint32_t count;
    struct err e = {0};
    const struct audit_reader reader = store_audit_reader(h->store);
    if (query.limit == 0) query.limit = 10;
    if (reader.read(reader.context, &query, &arena, &rows, &count, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    buf_add_text(&text, "");
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(rows[i].entry.uid, 1000);
        assert_null(rows[i].entry.before);
        assert_string_equal(rows[i].entry.after, "1");
        buf_format(&text, "%s%s", i > 0 ? " " : "", rows[i].entry.name);
    }
    assert_string_equal(text.text, names);
    buf_release(&text);
    arena_release(&arena);
}

static void entries_are_read_in_pages(void **unused)
{
    struct house h;
    (void)unused;
    house_build(&h, host);
    store_sql(h.directory, "DELETE FROM audit");
    reload(&h);
    const char *names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
        const struct audit_entry entry = entry_at(NOW_US + i * SECOND,
                                                  i == 2   ? NULL
                                                  : i == 1 ? "bob"
                                                           : "ann",
                                                  names[i]);
        commit_entry(&h, &entry);
    }
    assert_read(&h, (struct audit_query){0}, "d c b a");
    assert_read(&h, (struct audit_query){.limit = 2}, "d c");
    assert_read(&h, (struct audit_query){.before = 3, .limit = 2}, "b a");
    assert_read(&h, (struct audit_query){.user = "ann"}, "d a");
    assert_read(&h, (struct audit_query){.user = "carl"}, "");
    assert_read(&h, (struct audit_query){.since_us = NOW_US + SECOND}, "d c b");
    assert_read(&h, (struct audit_query){.since_us = NOW_US + 4 * SECOND}, "");
    assert_read(&h, (struct audit_query){.until_us = NOW_US + 2 * SECOND}, "b a");
    assert_read(&h, (struct audit_query){.until_us = NOW_US}, "");
    assert_read(&h, (struct audit_query){.user = "ann", .since_us = NOW_US + SECOND}, "d");
    const struct audit_entry same = entry_at(NOW_US + 3 * SECOND, "ann", "e");
    commit_entry(&h, &same);
    assert_read(&h, (struct audit_query){.since_us = NOW_US + 3 * SECOND}, "e d");
    assert_read(&h, (struct audit_query){.until_us = NOW_US + 3 * SECOND}, "c b a");
    assert_read(&h, (struct audit_query){.until_us = NOW_US + 4 * SECOND, .limit = 2}, "e d");
    house_close(&h);
}

/* The entry is in the transaction of the change: a commit that fails leaves neither. */
static void an_entry_is_there_exactly_if_its_change_is(void **unused)
{
    struct house h;
    struct err e = {0};
    (void)unused;
    house_build(&h, host);
    store_sql(h.directory, "DELETE FROM audit; CREATE TRIGGER full BEFORE UPDATE ON counters BEGIN"
                           " SELECT raise(ABORT, 'planted'); END");
    reload(&h);
    const struct audit_entry entry = entry_at(NOW_US, "ann", "a");
    *array_add(&h.w.out.audit) = entry;
    *array_add(&h.w.out.changes) = (struct change){TABLE_SETTING, SET_HOST_CPUS};
    assert_int_equal(store_commit(h.store, &h.w.s, &h.w.out, NOW_US, &e), -1);
    outcome_clear(&h.w.out);
    assert_read(&h, (struct audit_query){0}, "");
    store_sql(h.directory, "DROP TRIGGER full");
    reload(&h);
    commit_entry(&h, &entry);
    assert_read(&h, (struct audit_query){0}, "a");
    house_close(&h);
}

/* Old entries are removed piece by piece, but never the last one: a later one has a larger number. */
static void old_entries_are_removed(void **unused)
{
    struct house h;
    struct err e = {0};
    (void)unused;
    house_build(&h, host);
    store_sql(h.directory, "DELETE FROM audit");
    reload(&h);
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
        const struct audit_entry entry = entry_at(NOW_US + i * SECOND, "ann", names[i]);
        commit_entry(&h, &entry);
    }
    assert_int_equal(store_prune_audit(h.store, NOW_US, 10, &e), 0);
    assert_read(&h, (struct audit_query){0}, "d c b a");
    assert_int_equal(store_prune_audit(h.store, NOW_US + 2 * SECOND, 1, &e), 1);
    assert_read(&h, (struct audit_query){0}, "d c b");
    assert_int_equal(store_prune_audit(h.store, NOW_US + 9 * SECOND, 10, &e), 2);
    assert_read(&h, (struct audit_query){0}, "d");
    assert_int_equal(store_prune_audit(h.store, NOW_US + 9 * SECOND, 10, &e), 0);
    assert_read(&h, (struct audit_query){0}, "d");
    house_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_read_in_pages),
        cmocka_unit_test(an_entry_is_there_exactly_if_its_change_is),
        cmocka_unit_test(old_entries_are_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
