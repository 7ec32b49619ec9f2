/* The small languages of hosts, queues and load: what each text gives, and the message of each that is refused. */
#include "dies.h"

#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "fields/host_text.h"

static struct arena arena;

struct row {
    const char *text, *result; /* what is read, written again; or the message */
};

/* What a language reads from a text; NULL: it refuses the text. */
typedef const char *reader(struct str text, struct err *e);
typedef int checker(struct str text, const char *what, struct err *e);

static const char *copy_and_release(struct buf *text)
{
    const char *copy = arena_copy(&arena, (struct str){text->text, text->length});
    buf_release(text);
    return copy;
}

/* The check accepts what the parser accepts, with the same message. An error is not required. */
static void check_row(const struct row *row, reader *read, checker *check, const char *what)
{
    struct err e = {0}, of_check = {0};
    const char *result = read(str(row->text), &e);
    assert_string_equal(result != NULL ? result : ERR_SENTENCE(&e), row->result);
    assert_int_equal(check(str(row->text), what, &of_check), result != NULL ? 0 : -1);
    if (result == NULL) assert_string_equal(ERR_SENTENCE(&of_check), row->result);
    assert_int_equal(check(str(row->text), what, NULL), result != NULL ? 0 : -1);
}

#define CHECK_ROWS(rows, read, check, what) \
    for (size_t i = 0; i < COUNT(rows); i++) check_row(&(rows)[i], read, check, what)

/* --- load formulas ------------------------------------------------------------------------------------------------ */

/* "np_load_avg*2 slots*-1 *5": the terms, the last one a number. */
static const char *read_formula(struct str text, struct err *e)
{
    struct load_formula_text formula;
    struct buf out = {0};
    if (host_text_load_formula(text, "load_formula", &arena, &formula, e) != 0) return NULL;
    for (uint32_t i = 0; i < formula.count; i++) {
        const struct load_term_text *term = &formula.terms[i];
        char weight[NUMBER_TEXT_SIZE];
        number_format_shortest(weight, term->weight);
        buf_format(&out, "%s%.*s*%s", i > 0 ? " " : "", (int)term->name.length, term->name.text, weight);
    }
    return copy_and_release(&out);
}

/* Which of the names exist is the reader's business: 8.1.9 refuses some of these then. */
static void formulas_of_grid_engine(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        {"np_load_avg", "np_load_avg*1"},
        {"-np_load_avg", "np_load_avg*-1"},
        {"np_load_avg*2", "np_load_avg*2"},
        {"slots", "slots*1"},
        {"-slots", "slots*-1"},
        {"np_load_avg-slots", "np_load_avg*1 slots*-1"},
        {"slots+np_load_avg*10", "slots*1 np_load_avg*10"},
        {"$np_load_avg", "np_load_avg*1"},
        {"np_load_avg+", "np_load_avg*1"},
        {"5", "*5"},
        {"2*np_load_avg",
         "load_formula: '2*np_load_avg' has its number before the value; write it behind, as in np_load_avg*2"},
        {"np_load_avg*load_avg", "load_formula: 'load_avg' is not a number: only numbers are weights"},
        {"np_load_avg load_avg", "np_load_avgload_avg*1"},
        {"nosuch", "nosuch*1"},
        {"np_load_avg/0", "np_load_avg/0*1"},
        {"(np_load_avg)", "(np_load_avg)*1"},
        {"arch", "arch*1"},
        {"np_load_avg ^ 2", "np_load_avg^2*1"},
        {"np_load_avg&3", "np_load_avg&3*1"},
    };
    CHECK_ROWS(rows, read_formula, host_text_load_formula_check, "load_formula");
}

static void formulas_have_signs_numbers_and_blanks(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        {"+a", "a*1"},
        {"-5", "*-5"},
        {"a*-2", "load_formula: 'a*' has no number behind its '*'"},
        {"a-5+b", "a*1 *-5 b*1"},
        {"$a*2-$b", "a*2 b*-1"},
        {" a\t* 2\r\n- b ", "a*2 b*-1"},
        {"a-", "a*1"},
        {"a*.5", "a*0.5"},
        {"a*1e3", "a*1000"},
        {"a*1e+3", "a*1000"},
        {"a*1e-3-b", "a*0.001 b*-1"},
        {"a*1E-3+b*2e+2", "a*0.001 b*200"},
        {"1e-3", "*0.001"},
        {"5e+1-a", "*50 a*-1"},
        {"le-a", "le*1 a*-1"}, /* a value that ends with e has no exponent */
        {"e-1", "e*1 *-1"},
        {"a*0", "a*0"},
        {"a+a", "a*1 a*1"},
        {"", "load_formula: '' is not a sum of load values such as np_load_avg*2-slots"},
        {" \t", "load_formula: ' ?' is not a sum of load values such as np_load_avg*2-slots"},
        {"+", "load_formula: '+' has an operator without a value"},
        {"a+-b", "load_formula: 'a+-b' has an operator without a value"},
        {"a++", "load_formula: 'a++' has an operator without a value"},
        {"$", "load_formula: '$' has no value"},
        {"*2", "load_formula: '*2' has no value"},
        {"a*", "load_formula: 'a*' has no number behind its '*'"},
        {"a*2*3", "load_formula: '2*3' is not a number: only numbers are weights"},
        {"a*$2", "load_formula: '$2' is not a number: only numbers are weights"},
        {"a*e+3", "load_formula: 'e' is not a number: only numbers are weights"},
        {"a*1e+", "load_formula: '1e+' is not a number: only numbers are weights"},
        {"a*0x10", "load_formula: '0x10' is not a number: only numbers are weights"},
        {"a*1e999", "load_formula: '1e999' is not a number: only numbers are weights"},
    };
    CHECK_ROWS(rows, read_formula, host_text_load_formula_check, "load_formula");
}

/* An infinite load would make the difference of two loads no number. */
static void weights_are_finite(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        {"a*inf", "load_formula: 'inf' is not a number: only numbers are weights"},
        {"a*Infinity", "load_formula: 'Infinity' is not a number: only numbers are weights"},
        {"a*nan", "load_formula: 'nan' is not a number: only numbers are weights"},
        {"inf", "inf*1"},
        {"-infinity*2", "infinity*-2"},
    };
    CHECK_ROWS(rows, read_formula, host_text_load_formula_check, "load_formula");
}

static void two_numbers_are_no_term(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        {"2*3", "load_formula: '2*3' has no value"},
        {"2*", "load_formula: '2*' has no number behind its '*'"},
        {"a-2*$b", "load_formula: '2*$b' has its number before the value; write it behind, as in np_load_avg*2"},
    };
    CHECK_ROWS(rows, read_formula, host_text_load_formula_check, "load_formula");
}

/* --- names with values -------------------------------------------------------------------------------------------- */

static void write_value(const struct named_value *v, struct buf *out)
{
    buf_format(out, "<%.*s", (int)v->name.length, v->name.text);
    if (v->value.text != NULL) buf_format(out, "|%.*s", (int)v->value.length, v->value.text);
    buf_add_char(out, '>');
}

/* "<gpu|4><big>": the names with their values. */
static const char *read_named(struct str text, struct err *e)
{
    struct named_values values;
    struct buf out = {0};
    if (host_text_named_values(text, "complex_values", &arena, &values, e) != 0) return NULL;
    buf_add_text(&out, "");
    for (uint32_t i = 0; i < values.count; i++) write_value(&values.items[i], &out);
    return copy_and_release(&out);
}

static void values_have_names(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        {"", ""},
        {"  ", ""},
        {"NONE", ""},
        {" none\n", ""},
        {"gpu=4", "<gpu|4>"},
        {"np_load_avg=0.50,mem=1G", "<np_load_avg|0.50><mem|1G>"},
        {" gpu = 4 ,\tarch = lx-amd64\n", "<gpu|4><arch|lx-amd64>"},
        {"big", "<big>"},
        {"big,gpu=4", "<big><gpu|4>"},
        {"a=b=c", "<a|b=c>"},
        {"a=x y", "<a|x y>"},
        {"GPU=1,gpu=2", "<GPU|1><gpu|2>"},
        {"a=1,NONE", "<a|1><NONE>"},
        {"gpu=", "complex_values: 'gpu=' is not NAME=VALUE"},
        {"gpu= ", "complex_values: 'gpu=' is not NAME=VALUE"},
        {"=4", "complex_values: '=4' is not NAME=VALUE"},
        {"=", "complex_values: '=' is not NAME=VALUE"},
        {",", "complex_values: '' is not NAME=VALUE"},
        {"gpu=4,", "complex_values: '' is not NAME=VALUE"},
        {"gpu=4,,mem=1", "complex_values: '' is not NAME=VALUE"},
        {"gpu=4,mem=1,gpu=4", "complex_values: 'gpu' occurs twice"},
        {"big,big", "complex_values: 'big' occurs twice"},
    };
    CHECK_ROWS(rows, read_named, host_text_named_values_check, "complex_values");
}

/* --- values of hosts ---------------------------------------------------------------------------------------------- */

/* "4 <n1|2>": the common value, and those of hosts. */
static const char *read_host_values(struct str text, struct err *e)
{
    struct host_values values;
    struct buf out = {0};
    if (host_text_host_values(text, "slots", &arena, &values, e) != 0) return NULL;
    buf_format(&out, "%.*s", (int)values.common.length, values.common.text);
    for (uint32_t i = 0; i < values.count; i++) {
        buf_add_char(&out, ' ');
        write_value(&values.hosts[i], &out);
    }
    return copy_and_release(&out);
}

static void hosts_have_values(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        {"4", "4"},
        {" AUTO ", "AUTO"},
        {"4,[n1=2],[@big=8]", "4 <n1|2> <@big|8>"},
        {" 4 , [ n1 = 2 ] ,\n[@big=8]\t", "4 <n1|2> <@big|8>"},
        {"NONE,[n1=NONE]", "NONE <n1|NONE>"},
        {"np_load_avg=1.75,mem=1G,[n1=NONE],[n2=np_load_avg=9,mem=2G]",
         "np_load_avg=1.75,mem=1G <n1|NONE> <n2|np_load_avg=9,mem=2G>"},
        {"a=[b],[n1=a=[c,d]]", "a=[b] <n1|a=[c,d]>"},
        {"4,[n1=2],[N1=3]", "4 <n1|2> <N1|3>"},
        {"4,,[n1=2]", "4, <n1|2>"}, /* what a value may be is known where it is used */
        {"", "slots: '' is not a value, such as 4 or 4,[n1=2]"},
        {" ", "slots: ' ' is not a value, such as 4 or 4,[n1=2]"},
        {"[n1=2]", "slots: '[n1=2]' is not a value, such as 4 or 4,[n1=2]"},
        {"[n1=2],4", "slots: '4' stands behind values of hosts"},
        {"4,[n1=2],5", "slots: '5' stands behind values of hosts"},
        {"4,[n1=2],", "slots: '' stands behind values of hosts"},
        {"4,[n1=2],[n1=3]", "slots: 'n1' occurs twice"},
        {"4,[@big=2],[@big=2]", "slots: '@big' occurs twice"},
        {"4,[n1]", "slots: '[n1]' is not [HOST=VALUE]"},
        {"4,[n1=]", "slots: '[n1=]' is not [HOST=VALUE]"},
        {"4,[n1= ]", "slots: '[n1= ]' is not [HOST=VALUE]"},
        {"4,[=2]", "slots: '[=2]' is not [HOST=VALUE]"},
        {"4,[]", "slots: '[]' is not [HOST=VALUE]"},
        {"4,[", "slots: '[' is not [HOST=VALUE]"},
        {"4,[n1=2", "slots: '[n1=2' is not [HOST=VALUE]"},
        {"4,[n1=2,[n2=3]", "slots: '[n1=2,[n2=3]' is not [HOST=VALUE]"},
        {"4,[n1=2]x", "slots: '[n1=2]x' is not [HOST=VALUE]"},
    };
    CHECK_ROWS(rows, read_host_values, host_text_host_values_check, "slots");
}

/* A forgotten comma is no part of the value. */
static void brackets_end_with_their_item(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        {"4,[n1=2][n2=3]", "slots: '[n1=2][n2=3]' is not [HOST=VALUE]"},
        {"4,[n1=2]]", "slots: '[n1=2]]' is not [HOST=VALUE]"},
        {"4,[n1=2] [n2=3]", "slots: '[n1=2] [n2=3]' is not [HOST=VALUE]"},
    };
    CHECK_ROWS(rows, read_host_values, host_text_host_values_check, "slots");
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* "<n1><n2>" */
static const char *read_names(struct str text, struct err *e)
{
    struct name_list list;
    struct buf out = {0};
    if (host_text_names(text, "hosts", &arena, &list, e) != 0) return NULL;
    buf_add_text(&out, "");
    for (uint32_t i = 0; i < list.count; i++) write_value(&(struct named_value){.name = list.items[i]}, &out);
    return copy_and_release(&out);
}

static void names_are_separated_by_commas_or_blanks(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        {"", ""},
        {" \n", ""},
        {"NONE", ""},
        {"none", ""},
        {"n1", "<n1>"},
        {"n1,n2,@big", "<n1><n2><@big>"},
        {"n1 n2\tn3\nn4\r\nn5", "<n1><n2><n3><n4><n5>"},
        {" n1 , n2 ", "<n1><n2>"},
        {"n1,N1,@n1", "<n1><N1><@n1>"},
        {"n1,n2,n1", "hosts: 'n1' occurs twice"},
        {"@big @big", "hosts: '@big' occurs twice"},
        {"n1\nn1", "hosts: 'n1' occurs twice"},
    };
    CHECK_ROWS(rows, read_names, host_text_names_check, "hosts");
}

/* Lists that were stored before may have them. */
static void new_lists_have_no_empty_items(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        {"n1,,n2", "hosts: 'n1,,n2' has an empty item; one comma stands between two names"},
        {",n1", "hosts: ',n1' has an empty item; one comma stands between two names"},
        {"n1, ", "hosts: 'n1, ' has an empty item; one comma stands between two names"},
        {",, ,", "hosts: ',, ,' has an empty item; one comma stands between two names"},
        {"n1,None", "hosts: 'n1,None' has names beside NONE, the empty list"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e = {0};
        assert_int_equal(host_text_names_check(str(rows[i].text), "hosts", &e), -1);
        assert_string_equal(ERR_SENTENCE(&e), rows[i].result);
        assert_non_null(read_names(str(rows[i].text), NULL));
    }
}

/* More names than an arena has room for by chance. */
static void lists_are_long(void **unused)
{
    (void)unused;
    static const char *const separators[] = {",", " ", "\t", "\r", "\n"};
    enum { NAMES = 3000 };
    for (size_t k = 0; k < COUNT(separators); k++) {
        struct buf text = {0};
        struct name_list list;
        for (int i = 0; i < NAMES; i++) buf_format(&text, "%s%x", i > 0 ? separators[k] : "", i);
        assert_int_equal(host_text_names((struct str){text.text, text.length}, "hosts", &arena, &list, NULL), 0);
        assert_int_equal(list.count, NAMES);
        assert_true(str_equal(list.items[NAMES - 1], str("bb7")));
        buf_release(&text);
    }
}

/* A view need not end with a zero byte, and a zero byte in it is no separator. */
static void views_end_where_they_end(void **unused)
{
    (void)unused;
    struct name_list list;
    struct named_values values;
    assert_int_equal(host_text_names((struct str){"n1,n2,n3", 5}, "hosts", &arena, &list, NULL), 0);
    assert_int_equal(list.count, 2);
    assert_int_equal(host_text_names((struct str){"n\0n\0n", 5}, "hosts", &arena, &list, NULL), 0);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].length, 5);
    assert_int_equal(host_text_named_values((struct str){"a=1,b=2", 3}, "x", &arena, &values, NULL), 0);
    assert_int_equal(values.count, 1);
    assert_int_equal(host_text_names((struct str){0}, "hosts", &arena, &list, NULL), 0);
    assert_int_equal(host_text_named_values((struct str){0}, "x", &arena, &values, NULL), 0);
    assert_int_equal(list.count + values.count, 0);
    assert_int_equal(host_text_host_values_check((struct str){0}, "x", NULL), -1);
    assert_int_equal(host_text_load_formula_check((struct str){0}, "x", NULL), -1);
    assert_int_equal(host_text_allocation_rule_check((struct str){0}, "x", NULL), -1);
}

/* --- allocation rules --------------------------------------------------------------------------------------------- */

/* "$fill_up", or "fixed 2" */
static const char *read_rule(struct str text, struct err *e)
{
    static const char *const words[] = {
        [RULE_PE_SLOTS] = "$pe_slots", [RULE_FILL_UP] = "$fill_up", [RULE_ROUND_ROBIN] = "$round_robin"};
    enum rule_text rule = RULE_FIXED;
    uint32_t slots = 77;
    struct buf out = {0};
    if (host_text_allocation_rule(text, "allocation_rule", &rule, &slots, e) != 0) {
        assert_true(rule == RULE_FIXED && slots == 77);
        return NULL;
    }
    if (rule != RULE_FIXED) assert_int_equal(slots, 0);
    buf_add_text(&out, rule != RULE_FIXED ? words[rule] : "fixed");
    if (rule == RULE_FIXED) buf_format(&out, " %u", slots);
    return copy_and_release(&out);
}

#define NO_RULE(text)                                                                                               \
    {                                                                                                               \
        text, "allocation_rule: '" text "' is not $pe_slots, $fill_up, $round_robin or a number of slots for each " \
              "host, 1 to 1000000"                                                                                  \
    }

static void rules_are_words_or_numbers(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        {"$pe_slots", "$pe_slots"},
        {"$fill_up", "$fill_up"},
        {"$round_robin", "$round_robin"},
        {"1", "fixed 1"},
        {"16", "fixed 16"},
        {"1000000", "fixed 1000000"},
        NO_RULE(""),
        NO_RULE("0"),
        NO_RULE("-1"),
        NO_RULE("1000001"),
        NO_RULE("18446744073709551616"),
        NO_RULE("2.5"),
        NO_RULE("2 "),
        NO_RULE("fill_up"),
        NO_RULE("$Fill_up"),
        NO_RULE("$pe_slots "),
        NO_RULE("$"),
    };
    CHECK_ROWS(rows, read_rule, host_text_allocation_rule_check, "allocation_rule");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_of_grid_engine),
        cmocka_unit_test(formulas_have_signs_numbers_and_blanks),
        cmocka_unit_test(weights_are_finite),
        cmocka_unit_test(two_numbers_are_no_term),
        cmocka_unit_test(values_have_names),
        cmocka_unit_test(hosts_have_values),
        cmocka_unit_test(brackets_end_with_their_item),
        cmocka_unit_test(names_are_separated_by_commas_or_blanks),
        cmocka_unit_test(new_lists_have_no_empty_items),
        cmocka_unit_test(lists_are_long),
        cmocka_unit_test(views_end_where_they_end),
        cmocka_unit_test(rules_are_words_or_numbers),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&arena);
    return failed;
}
