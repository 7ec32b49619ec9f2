/* What jobs wait for, as text: what is read and how it is written again, what is refused, what it means. */
#include <string.h>

#include "dies.h"
#include "fields/dependency_text.h"

static void assert_read(const char *text, const char *expected)
{
    struct arena arena = {0};
    struct dependency_list list;
    struct err e = {0};
    struct buf out = {0};
    if (dependency_text_parse(str(text), &arena, &list, &e) != 0) fail_msg("'%s': %s", text, ERR_SENTENCE(&e));
    buf_add_char(&out, '<');
    dependency_text_format(&list, &out);
    assert_string_equal(out.text + 1, expected);
    buf_release(&out);
    arena_release(&arena);
}

static void test_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *written;
    } rows[] = {
        {"", ""},
        {" None ", ""},
        {"afterok:5", "afterok:5"},
        {" AFTEROK:5:6 , afternotok:7", "afterok:5,afterok:6,afternotok:7"},
        {"afterany:1?after:2", "afterany:1?after:2"},
        {"afterany:1:2", "afterany:1,afterany:2"},
        {"after:5+10", "after:5+10"},
        {"after:5+0", "after:5"},
        {"after:5+10@1764000000", "after:5+10@1764000000"},
        {"after:5(unfulfilled)", "after:5"},
        {"afterok:5(failed),singleton(unfulfilled)", "afterok:5(failed),singleton"},
        {"afterok:5_3", "afterok:5_3"},
        {"afterok:prep_3a", "afterok:prep_3a"},
        {"after:c+++5", "after:c+++5"},
        {"afterok:c+5", "afterok:c+5"},
        {"after:c+x", "after:c+x"},
        {"aftercorr:5_[0-3,7]", "aftercorr:5_[0-3,7]"},
        {"aftercorr:5,singleton", "aftercorr:5,singleton"},
        {"aftercorrany:5", "aftercorrany:5"},
        {"hold_jid:work*:7,hold_jid_ad:arr", "hold_jid:work*,hold_jid:7,hold_jid_ad:arr"},
        {"hold_jid:prep?:a[0-9]?,afterok:7", "hold_jid:prep?,hold_jid:a[0-9]?,afterok:7"},
        {"HOLD_JID:a?c", "hold_jid:a?c"},
        {"afterok:5, Hold_JID_ad:a?c", "afterok:5,hold_jid_ad:a?c"},
        {"hold_jid:prep_[12]", "hold_jid:prep_[12]"},
        {"hold_jid_ad:prep_[12]", "hold_jid_ad:prep_[12]"},
        {"afterok:5_[1-3,7]:6", "afterok:5_1,afterok:5_2,afterok:5_3,afterok:5_7,afterok:6"},
        {"afterany:5_[1-2]?after:6_[0]+10", "afterany:5_1?afterany:5_2?after:6_0+10"},
        {"hold_jid:5_[1-2]", "hold_jid:5_1,hold_jid:5_2"},
        {"afterok:prep_[1-2]", "afterok:prep_[1-2]"},
        {"singleton", "singleton"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) assert_read(rows[i].text, rows[i].written);
}

static void test_refuse(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"5", "dependency: '5' is not afterok:JOB, "},
        {"none,afterok:5", "dependency: 'none' is not afterok:JOB, "},
        {"afterok", "dependency: 'afterok' is not afterok:JOB, "},
        {"afterok:", "dependency: 'afterok:' is not afterok:JOB, "},
        {"afterok:5:", "dependency: 'afterok:5:' is not afterok:JOB, "},
        {"afterok:5,", "dependency: '' is not afterok:JOB, "},
        {"before:5", "dependency: 'before:5' is not afterok:JOB, "},
        {"singleton:5", "dependency: 'singleton:5' is not afterok:JOB, "},
        {"afterok:0", "dependency: '0' "},
        {"afterok:4294967295", "dependency: '4294967295' "},
        {"afterok:a\x01", "dependency: 'afterok:a?' is not afterok:JOB, "},
        {"afterok:1,afterok:2?afterok:3", "dependency: 'afterok:1,afterok:2?afterok:3' has both ',' and '?'"},
        {"aftercorr:1?afterok:2", "dependency: 'aftercorr:1?afterok:2' has '?' beside aftercorr, "},
        {"aftercorr:5_3", "dependency: 'aftercorr:5_3' names a task"},
        {"aftercorr:5_[3-1]", "dependency: '3-1' ends before it begins"},
        {"afterok:5_[3-1]", "dependency: '3-1' ends before it begins"},
        {"afterok:5_[0-10000]", "dependency: more than 10000 jobs"},
        {"after:1+x", "dependency: 'after:1+x' has minutes that cannot be read"},
        {"after:1_2+1.5", "dependency: 'after:1_2+1.5' has minutes that cannot be read"},
        {"afterok:1+3", "dependency: 'afterok:1+3' has minutes that cannot be read"},
        {"aftercorr:9_[0-3,:5,afterok:1_[2]", "dependency: 'aftercorr:9_[0-3,:5,afterok:1_[2]' has '[' without ']'"},
        {"hold_jid:5:", "dependency: 'hold_jid:5:' is not a list of jobs, each an id"},
        {"hold_jid_ad:", "dependency: 'hold_jid_ad:' is not a list of jobs, each an id"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena arena = {0};
        struct dependency_list list;
        struct err e = {0};
        assert_int_equal(dependency_text_parse(str(rows[i].text), &arena, &list, &e), -1);
        if (strncmp(ERR_SENTENCE(&e), rows[i].message, strlen(rows[i].message)) != 0)
            fail_msg("'%s': %s", rows[i].text, ERR_SENTENCE(&e));
        arena_release(&arena);
    }
}

static void test_refuse_too_many(void **state)
{
    (void)state;
    struct buf text = {0};
    struct err e = {0};
    buf_add_text(&text, "afterok");
    for (uint32_t i = 1; i <= 100000; i++) buf_format(&text, ":%u", i);
    assert_int_equal(dependency_text_check((struct str){text.text, text.length}, "dependency", &e), -1);
    assert_int_equal(e.code, ERR_TOO_LARGE);
    assert_string_equal(ERR_SENTENCE(&e), "dependency: more than 10000 jobs; at most 10000 are accepted");
    assert_int_equal(dependency_text_check(str("foo"), "--dependency", &e), -1);
    assert_true(strncmp(ERR_SENTENCE(&e), "--dependency: 'foo' is not afterok:JOB", 38) == 0);
    buf_release(&text);
}

static void test_meaning(void **state)
{
    (void)state;
    enum { MET = DEPENDENCY_MET, WAITS = DEPENDENCY_WAITS, NEVER = DEPENDENCY_NEVER };
    static const struct {
        const char *text, *pending;
        int64_t now_s;
        int state;
    } rows[] = {
        {"", "0", 100, MET},
        {"afterok:5", "0", 100, WAITS},
        {"afterok:5(failed)", "0", 100, NEVER},
        {"afterok:5,afterok:6(failed)", "0", 100, NEVER},
        {"afterok:5?afterok:6(failed)", "0", 100, WAITS},
        {"afterok:5(failed)?afterok:6(failed)", "0", 100, NEVER},
        {"after:5+1@100", "0", 99, WAITS},
        {"after:5+1@100", "0", 100, MET},
        {"after:5+1@100,afterok:6", "0", 100, WAITS},
        {"after:5+1@100?afterok:6", "0", 100, MET},
        {"after:5+1@200?after:6+1@100", "0", 100, MET},
        {"after:5+1@200,after:6+1@100", "0", 199, WAITS},
        {"aftercorr:5_[0-3]", "0-3", 100, WAITS},
        {"aftercorr:5_[0-2]", "0-3", 100, MET},
        {"aftercorr:5_[0-3](failed)", "0-3", 100, NEVER},
        {"aftercorr:5_[0-2](failed),aftercorr:5_[3]", "0-3", 100, WAITS},
        {"aftercorr:5_[0-2](failed),aftercorr:6_[0-3]", "0-2", 100, NEVER},
        {"aftercorr:5_[0],singleton", "0-3", 100, WAITS},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena arena = {0};
        struct dependency_list list, *copy;
        struct idset pending;
        assert_int_equal(dependency_text_parse(str(rows[i].text), &arena, &list, NULL), 0);
        assert_int_equal(idset_parse(str(rows[i].pending), 100, "tasks", &pending, NULL), 0);
        copy = dependency_list_copy(&list);
        assert_int_equal(dependency_list_state(copy, &pending, rows[i].now_s * 1000000), rows[i].state);
        dependency_list_free(copy);
        idset_release(&pending);
        arena_release(&arena);
    }
}

/* What listings show: nothing once a time has come that is enough. */
static void test_show(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t now_s;
        const char *shown;
    } rows[] = {
        {"after:5+1@100?afterok:7(failed)", 99, "after:5+1(unfulfilled)?afterok:7(failed)"},
        {"after:5+1@100?afterok:7(failed)", 100, ""},
        {"afterok:7?after:5+1@100", 101, ""},
        {"after:5+1@100,afterok:7(failed)", 100, "afterok:7(failed)"},
        {"after:5+1@100,afterok:7", 100, "afterok:7(unfulfilled)"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena arena = {0};
        struct dependency_list list, *copy;
        struct buf text = {0};
        assert_int_equal(dependency_text_parse(str(rows[i].text), &arena, &list, NULL), 0);
        copy = dependency_list_copy(&list);
        buf_add_text(&text, "");
        dependency_text_show(copy, rows[i].now_s * 1000000, &text);
        assert_string_equal(text.text, rows[i].shown);
        dependency_list_free(copy);
        buf_release(&text);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read), cmocka_unit_test(test_refuse),
                                       cmocka_unit_test(test_refuse_too_many), cmocka_unit_test(test_meaning),
                                       cmocka_unit_test(test_show)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
