/* slurm.conf and Grid Engine's scheduler configuration as pairs: what a text becomes, and the faults with their
 * positions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "formats/sched_conf.h"
#include "formats/slurm_conf.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

struct row {
    const char *text;
    const char *expected; /* "line:NAME=VALUE;" for each pair, then "!line:column: FAULT;" for each fault */
};

static const struct source included = {"inner", {"A=1\nB=2\n", 8}}, looping = {"loop", {"Include loop\n", 13}};

static const struct source *open_file(void *context, const struct source *from, struct str path,
                                      char fault[SLURM_CONF_FAULT_SIZE])
{
    (void)context;
    (void)from;
    if (str_equal(path, str("inner"))) return &included;
    if (str_equal(path, str("loop"))) return &looping;
    text_format(fault, SLURM_CONF_FAULT_SIZE, "%.*s: no such file", (int)path.length, path.text);
    return NULL;
}

static void print(const struct conf_pairs *p, struct buf *out)
{
    for (uint32_t i = 0; i < p->items.count; i++) {
        const struct conf_pair *pair = &p->items.items[i];
        buf_format(out, "%u:%.*s=%.*s;", pair->line, (int)pair->name.length, pair->name.text, (int)pair->value.length,
                   pair->value.text);
    }
    for (uint32_t i = 0; i < p->faults.count; i++) {
        uint32_t line, column;
        source_position(p->faults.items[i].source, p->faults.items[i].position, &line, &column);
        buf_format(out, "!%s:%u:%u: %s;", p->faults.items[i].source->name, line, column, p->faults.items[i].text);
    }
    if (p->template_count > 0) buf_format(out, "%u marks;", p->template_count);
}

static void check(const struct row *row, bool is_slurm)
{
    struct conf_pairs pairs = {0};
    struct source source = {"f", str(row->text)};
    struct buf got = {0};
    if (is_slurm)
        slurm_conf_read(&source, open_file, NULL, &pairs);
    else
        sched_conf_read(&source, &pairs);
    print(&pairs, &got);
    buf_add_char(&got, 0);
    assert_string_equal(got.text, row->expected);
    buf_release(&got);
    conf_pairs_release(&pairs);
}

static void test_slurm(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"", ""},
        {"A=1", "0:A=1;"},
        {"# A=1\n\n  B = 2 # C=3\r\n", "0:B=2;"},
        {"A=1 B=2\nC=3\n", "0:A=1;0:B=2;1:C=3;"},
        {"A=\"x y\" B=2", "0:A=x y;0:B=2;"},
        {"A=1 \\\n  B=2\nC=3", "0:A=1;0:B=2;1:C=3;"},
        {"A=n1,\\\nn2\nB=2", "0:A=n1,n2;1:B=2;"},
        {"A=n1,\\  \nn2", "0:A=n1,n2;"},
        {"A=x\\#y #z", "0:A=x#y;"},
        {"A=x\\y", "0:A=x\\y;"},
        {"A=x\\", "0:A=x\\;"},
        {"A=b=c", "0:A=b=c;"},
        {"\xef\xbb\xbf"
         "A=1",
         "0:A=1;"},
        {"A B=1\nC=2", "0:C=2;!f:1:1: no '=' after 'A'; write NAME=VALUE;"},
        {"A=1 B", "0:A=1;!f:1:5: no '=' after 'B'; write NAME=VALUE;"},
        {"=1", "!f:1:1: no '=' after '='; write NAME=VALUE;"},
        {"A=\nB=1", "0:B=1;!f:1:1: A has no value;"},
        {"A=\"x\nB=1", "0:B=1;!f:1:3: a quotation mark is not closed before the end of the line;"},
        {"Include inner\nC=3", "0:A=1;1:B=2;2:C=3;"},
        {"C=3\ninclude inner # x\nD=4", "0:C=3;1:A=1;2:B=2;3:D=4;"},
        {"Include nope", "!f:1:1: nope: no such file;"},
        {"Include", "!f:1:1: Include names no file;"},
        {"Include=5", "0:Include=5;"},
        {"Include loop", "!loop:1:1: files include each other more than 10 deep; does one include itself?;"},
        {"A={{ x['y'] }} B=1", "0:A={{ x['y'] }};0:B=1;1 marks;"},
        {"A=a{{ x }}b", "0:A=a{{ x }}b;1 marks;"},
        {"{% if x == 1 %}\nA=1{# c #}\n{% endif %} B=2", "0:A=1{# c #};1:B=2;3 marks;"},
        {"A={{ x", "0:A={{;!f:1:6: no '=' after 'x'; write NAME=VALUE;"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) check(&rows[i], true);
}

static void test_zero_byte(void **state)
{
    (void)state;
    struct conf_pairs pairs = {0};
    struct source source = {"f", {"A=1\nB\0=2", 8}};
    slurm_conf_read(&source, NULL, NULL, &pairs);
    assert_int_equal(pairs.items.count, 0);
    assert_int_equal(pairs.fault_count, 1);
    sched_conf_read(&source, &pairs);
    assert_int_equal(pairs.fault_count, 2);
    conf_pairs_release(&pairs);
}

static void test_many_faults(void **state)
{
    (void)state;
    struct buf text = {0};
    for (int i = 0; i < 1000; i++) buf_add_text(&text, "word\n");
    struct conf_pairs pairs = {0};
    struct source source = {"f", {text.text, text.length}};
    slurm_conf_read(&source, NULL, NULL, &pairs);
    assert_int_equal(pairs.faults.count, CONF_FAULTS_MAX);
    assert_int_equal(pairs.fault_count, 1000);
    conf_pairs_release(&pairs);
    buf_release(&text);
}

static void test_find(void **state)
{
    (void)state;
    struct conf_pairs pairs = {0};
    struct source source = {"f", str("A=1\na=2\nB=3")};
    slurm_conf_read(&source, NULL, NULL, &pairs);
    assert_true(str_equal(conf_pairs_find(&pairs, "A")->value, str("2")));
    assert_null(conf_pairs_find(&pairs, "C"));
    conf_pairs_release(&pairs);
}

static void test_sched(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"", ""},
        {"halftime    168\n# x 1\nparams none\r\n", "0:halftime=168;1:params=none;"},
        {"list cpu=1,mem=0, \\\n     io=0\nnext 2", "0:list=cpu=1,mem=0,io=0;1:next=2;"},
        {"list a \\\n", "0:list=a;"},
        {"halftime\nnext 2", "0:next=2;!f:1:1: halftime has no value;"},
        {"algorithm\tdefault", "0:algorithm=default;"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) check(&rows[i], false);
}

static void test_which(void **state)
{
    (void)state;
    assert_true(slurm_conf_is(str("# x\nClusterName=c\n")));
    assert_true(slurm_conf_is(str("Include /etc/x\n")));
    assert_false(slurm_conf_is(str("# x\nalgorithm default\n")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm), cmocka_unit_test(test_zero_byte), cmocka_unit_test(test_many_faults),
        cmocka_unit_test(test_find),  cmocka_unit_test(test_sched),     cmocka_unit_test(test_which),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
