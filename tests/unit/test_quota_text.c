/* Rules of resource quota sets: what is read, and every refusal. */
#include "dies.h"

#include "fields/quota_text.h"

static struct arena arena;

static void add_scope(const struct quota_scope *s, enum quota_filter filter, struct buf *out)
{
    if (s->count == 0) return;
    buf_format(out, " %s", quota_text_filter_name(filter));
    if (s->is_each) buf_add_text(out, " each");
    for (uint32_t i = 0; i < s->count; i++) {
        buf_add_text(out, s->items[i].is_excluded ? " not " : " ");
        buf_add_str(out, s->items[i].name);
    }
}

/* "1: users each * | slots 3; ..." */
static const char *rules_of(const char *text)
{
    static struct buf out;
    struct quota_rules rules;
    struct err e;
    buf_clear(&out);
    buf_add_text(&out, "");
    if (quota_text_rules(str(text), "rules", &arena, &rules, &e) != 0) {
        buf_add_text(&out, ERR_SENTENCE(&e));
        return out.text;
    }
    for (uint32_t i = 0; i < rules.count; i++) {
        const struct quota_rule *rule = &rules.items[i];
        if (i > 0) buf_add_text(&out, "; ");
        quota_text_rule_name(rule, i, &out);
        buf_add_char(&out, ':');
        for (int f = 0; f < QUOTA_FILTER_COUNT; f++) add_scope(&rule->scope[f], (enum quota_filter)f, &out);
        for (uint32_t k = 0; k < rule->limit_count; k++) {
            buf_add_text(&out, rule->limits[k].is_formula ? " | formula " : " | ");
            buf_add_str(&out, rule->limits[k].resource);
            buf_add_char(&out, ' ');
            buf_add_str(&out, rule->limits[k].amount);
        }
    }
    return out.text;
}

static void rules_are_read(void **unused)
{
    (void)unused;
    static const char *const rows[][2] = {
        {"", ""},
        {" NONE ", ""},
        {" ;\n ; ", ""},
        {"limit users {*} to slots=3", "1: users each * | slots 3"},
        {"users uc to slots=1\n\tlimit   users {*}   to slots = 3 ,license=2;",
         "1: users uc | slots 1; 2: users each * | slots 3 | license 2"},
        {"limit name all to slots=4", "all: | slots 4"},
        {"LIMIT HOSTS {@fast, !n1} Pes !* Projects P1,P2 queues a.q* users @chem TO mem=4G",
         "1: users @chem projects P1 P2 pes not * queues a.q* hosts each @fast not n1 | mem 4G"},
        {"limit hosts {*} to slots=$num_proc*2+1", "1: hosts each * | formula slots $num_proc*2+1"},
        {"limit users to to slots=1", "1: users to | slots 1"},
        {"limit projects !* to slots=1", "1: projects not * | slots 1"},
        {"limit hosts {n[1-2,07],@fast, !m[1-2]-ib} users ann to slots=1",
         "1: users ann hosts each n1 n2 n07 @fast not m1-ib not m2-ib | slots 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) assert_string_equal(rules_of(rows[i][0]), rows[i][1]);
}

static void mistakes_have_a_position(void **unused)
{
    (void)unused;
    static const char *const rows[][2] = {
        {"limit", "rules: a rule ends in line 1, column 6, where 'to' with its limits has to be"},
        {"limit users {*} slots=1",
         "rules: 'slots' in line 1, column 17 is none of users, projects, pes, queues, hosts, to; a rule is 'limit users "
         "{*} to slots=4'"},
        {"limit to slots=1\nlimit users", "rules: a rule ends in line 2, column 12, where an item of a list has to be"},
        {"limit to slots=1; limit users u,,v to slots=1",
         "rules: ',' in line 1, column 33 stands where an item of a list has to be"},
        {"limit hosts n[3-1],m to slots=1",
         "rules: 'n[3-1]' in line 1, column 13 is not a list of hosts: '3-1' ends before it begins"},
        {"limit hosts n[1-2,4 to slots=1; users a to slots=1",
         "rules: 'n[1-2,4 to slots=1' in line 1, column 13 is not a list of hosts: 'n[1-2,4 to slots=1' has a bracket "
         "without the other one"},
        {"limit hosts n[1-600],m[1-401] to slots=1",
         "rules: 'm[1-401]' in line 1, column 22 makes a list of more than 1000 hosts; name a group of hosts"},
        {"limit users ! to slots=1", "rules: '!' in line 1, column 13 is not an item of a list of users"},
        {"limit users @ to slots=1", "rules: '@' in line 1, column 13 is not an item of a list of users"},
        {"limit projects @p to slots=1",
         "rules: '@p' in line 1, column 16 is a group; only users and hosts have groups"},
        {"limit users {} to slots=1", "rules: '}' in line 1, column 14 stands where an item of a list has to be"},
        {"limit users {u to slots=1", "rules: 'to' in line 1, column 16 stands where a } of the list has to be"},
        {"limit users u,!u to slots=1", "rules: 'u,!u' in line 1, column 13 is a list that matches nothing"},
        {"limit users root,!r* to slots=1", "rules: 'root,!r*' in line 1, column 13 is a list that matches nothing"},
        {"limit hosts n1,n22,!n* to slots=1",
         "rules: 'n1,n22,!n*' in line 1, column 13 is a list that matches nothing"},
        {"limit hosts n1*,!n* to slots=1", "rules: 'n1*,!n*' in line 1, column 13 is a list that matches nothing"},
        {"limit queues *@n1 to slots=1",
         "rules: '*@n1' in line 1, column 14 has an @; name partitions here, and hosts after the word hosts"},
        {"limit hosts !* to slots=1", "rules: '!*' in line 1, column 13 is a list that matches nothing"},
        {"limit pes a,!* to slots=1", "rules: 'a,!*' in line 1, column 11 is a list that matches nothing"},
        {"limit users u users v to slots=1", "rules: 'users' in line 1, column 15 occurs twice in a rule"},
        {"limit to slots", "rules: a rule ends in line 1, column 15, where a limit RESOURCE=AMOUNT has to be"},
        {"limit to slots=", "rules: 'slots' in line 1, column 10 has no amount; limits are RESOURCE=AMOUNT"},
        {"limit to slots=1,slots=2", "rules: 'slots' in line 1, column 18 occurs twice; a rule limits a resource once"},
        {"limit to slots=1 users u", "rules: 'users' in line 1, column 18 stands after the limits of a rule"},
        {"limit hosts * to slots=$num_proc",
         "rules: '$num_proc' in line 1, column 24 differs from host to host; name the hosts in braces: hosts {*}"},
        {"limit hosts {*} to slots=2*$num_proc",
         "rules: '2*$num_proc' in line 1, column 26 is not a sum such as $num_proc*2+1"},
        {"limit name a to slots=1; limit name a to slots=2",
         "rules: 'a' in line 1, column 37 is the name of two rules"},
        {"limit name", "rules: a rule ends in line 1, column 11, where the name of a rule has to be"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) assert_string_equal(rules_of(rows[i][0]), rows[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_read),
        cmocka_unit_test(mistakes_have_a_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
