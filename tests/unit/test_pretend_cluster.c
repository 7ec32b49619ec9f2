/* Documents of pretend clusters: what is read, what is refused, and what happens to hosts over time. */
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "base/text.h"
#include "dies.h"
#include "fields/host_ranges.h"
#include "pretend/pretend_timeline.h"

#define HOUR_US (3600 * US_PER_S)

/* The names, joined by blanks, or the sentence of the error. */
static void expand(const char *text, uint32_t max, struct buf *out)
{
    struct arena arena = {0};
    struct host_ranges names = {0};
    struct err e;
    int status = host_ranges_expand(str(text), max, &arena, &names, &e);
    buf_clear(out);
    for (uint32_t i = 0; i < names.names.count && status == 0; i++)
        buf_format(out, "%s%s", i > 0 ? " " : "", names.names.items[i]);
    if (status != 0) buf_add_text(out, ERR_SENTENCE(&e));
    array_release(&names.names);
    arena_release(&arena);
}

static void test_names_of_hosts(void **state)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"n1", "n1"},
        {"n[1-3]", "n1 n2 n3"},
        {"n[008-011]", "n008 n009 n010 n011"},
        {"a[1,3-4]-ib, b", "a1-ib a3-ib a4-ib b"},
        {"n[0-1]", "n0 n1"},
        {"", "is empty"},
        {"a,,b", "has an empty name"},
        {"n[3-1]", "'3-1' ends before it begins"},
        {"n[1-x]", "'1-x' is not a range of numbers, such as 1-16 or 001-500"},
        {"n[]", "'' is not a range of numbers, such as 1-16 or 001-500"},
        {"n[1-2", "'n[1-2' has a bracket without the other one"},
        {"n1-2]", "'n1-2]' has a bracket without the other one"},
        {"n[1][2]", "'n[1][2]' has more than one bracket"},
        {"a b", "'a b' is not a name of a host: up to 64 printable bytes without a blank or any of , [ ] = @"},
        {"@n", "'@n' is not a name of a host: up to 64 printable bytes without a blank or any of , [ ] = @"},
        {"n[1-999999999]", "more than 6 hosts in all"},
        {"n[1-9999999999]", "'1-9999999999' is not a range of numbers, such as 1-16 or 001-500"},
    };
    (void)state;
    struct buf text = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        expand(rows[i].text, 6, &text);
        assert_string_equal(text.text, rows[i].expected);
    }
    buf_release(&text);
}

/* Reads with ' for ". */
static int read_text(const char *text, struct pretend_cluster *c, struct err *e)
{
    char json[2000];
    snprintf(json, sizeof json, "%s", text);
    for (char *at = json; *at != '\0'; at++)
        if (*at == '\'') *at = '"';
    return pretend_cluster_read(str(json), "f", c, e);
}

static void test_what_is_read(void **state)
{
    struct pretend_cluster c;
    struct err e;
    (void)state;
    assert_int_equal(
        read_text("{'hosts': [{'name': 'n[01-03]', 'cpus': 4}, {'name': 'g', 'cpus': 2, 'gpus': 1, 'mem': '8G',"
                  " 'features': 'avx,ssd'}],"
                  " 'run_time': {'of_limit': 0.25}, 'fail_percent': 3, 'seed': 7}",
                  &c, &e),
        0);
    assert_int_equal(c.hosts.count, 4);
    assert_string_equal(c.hosts.items[1].name, "n02");
    assert_int_equal(c.hosts.items[1].cpus, 4);
    assert_int_equal(c.hosts.items[1].mem_mib, 16384);
    assert_null(c.hosts.items[1].features);
    assert_int_equal(c.hosts.items[3].mem_mib, 8192);
    assert_int_equal(c.hosts.items[3].gpus, 1);
    assert_string_equal(c.hosts.items[3].features, "avx,ssd");
    assert_true(c.rules.of_limit == 0.25 && c.rules.spread == 0.2 && c.rules.fail_percent == 3.0 && c.rules.seed == 7);
    pretend_cluster_release(&c);
}

#define HOSTS "'hosts': [{'name': 'n[1-2]', 'cpus': 4}]"

static void test_what_is_refused(void **state)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"", "f: is empty; a pretend cluster is a JSON document"},
        {"[]", "f: the document: a list is not an object"},
        {"{}", "f: hosts: missing; a list of hosts, such as {\"name\": \"n[1-16]\", \"cpus\": 16}"},
        {"{'hosts': []}", "f: hosts: is empty; a cluster has at least one host"},
        {"{'hosts': [{'name': 'n1'}]}", "f: hosts[0].cpus: missing; the number of CPUs"},
        {"{'hosts': [{'name': 'n1', 'cpus': 0}]}", "f: hosts[0].cpus: 0 is not a whole number from 1 to 65536"},
        {"{'hosts': [{'name': 'n1', 'cpus': -3}]}", "f: hosts[0].cpus: -3 is not a whole number from 1 to 65536"},
        {"{'hosts': [{'name': 'n1', 'cpus': 65537}]}", "f: hosts[0].cpus: 65537 is not a whole number from 1 to 65536"},
        {"{'hosts': [{'name': 'n1', 'cpus': 1}, {'name': 'n[1-2]', 'cpus': 1}]}",
         "f: hosts[1].name: host 'n1' occurs twice"},
        {"{'hosts': [{'name': 'n[1-10001]', 'cpus': 1}]}", "f: hosts[0].name: more than 10000 hosts in all"},
        {"{" HOSTS ", 'failures': [{'hosts': 'n3', 'at': 1, 'for': 1}]}",
         "f: failures[0].hosts: 'n3' is not one of the hosts"},
        {"{" HOSTS ", 'failures': [{'hosts': 'n1', 'at': 'noon', 'for': 1}]}",
         "f: failures[0].at: 'noon' is not a time of 0 s to 3660 days, such as 90, \"0:30:00\" or "
         "\"1-12:00:00\""},
        {"{" HOSTS ", 'failures': [{'hosts': 'n1', 'at': -1, 'for': 1}]}",
         "f: failures[0].at: -1 is not a time of 0 s to 3660 days, such as 90, \"0:30:00\" or \"1-12:00:00\""},
        {"{" HOSTS ", 'failures': [{'hosts': 'n1', 'at': 1, 'for': 0}]}",
         "f: failures[0].for: 0 is not a time of 1 s to 3660 days, such as 90, \"0:30:00\" or \"1-12:00:00\""},
        {"{" HOSTS ", 'failures': [{'hosts': 'n1', 'at': 10, 'for': 10}, {'hosts': 'n[1-2]', 'at': 19, 'for': 1}]}",
         "f: failures: host 'n1' fails again at 19 s while it is down"},
        {"{" HOSTS ", 'period': 3600, 'failures': [{'hosts': 'n1', 'at': 3590, 'for': 11}]}",
         "f: failures[0].for: 11 s after 3590 s is not within the period of 3600 s"},
        {"{" HOSTS ", 'period': 3600, 'failures': [{'hosts': 'n1', 'at': 3600, 'for': 1}]}",
         "f: failures[0].at: 3600 s is not within the period of 3600 s"},
        {"{" HOSTS ", 'period': 3600, 'loads': [{'hosts': 'n1', 'at': 7200, 'mem_used': '1G'}]}",
         "f: loads[0].at: 7200 s is not within the period of 3600 s"},
        {"{" HOSTS ", 'period': 90}",
         "f: period: 90 is not a time of 3600 s to 3660 days, such as 7200, \"2:00:00\" or "
         "\"1-12:00:00\""},
        {"{" HOSTS ", 'loads': [{'hosts': 'n1', 'at': 5}, {'hosts': 'n1', 'at': 5}]}",
         "f: loads: host 'n1' has two loads at 5 s"},
        {"{" HOSTS ", 'loads': [{'hosts': 'n1', 'at': 5, 'mem_used': '17G'}]}",
         "f: loads[0].mem_used: more than host 'n1' has"},
        {"{" HOSTS ", 'fail_percent': 101}", "f: fail_percent: 101 is not a number from 0 to 100"},
        {"{" HOSTS ", 'run_time': {'mean': 1}}",
         "f: run_time: 'mean' is not a field; the fields are: of_limit, spread"},
        {"{" HOSTS ", 'host': 1}", "f: 'host' is not a field; did you mean 'hosts'?"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct pretend_cluster c;
        struct err e = {0};
        assert_int_equal(read_text(rows[i].text, &c, &e), -1);
        assert_string_equal(ERR_SENTENCE(&e), rows[i].expected);
        assert_int_equal(e.code, ERR_INPUT);
    }
}

/* The hosts that are down at a time, as letters. */
static void assert_down(const struct pretend_cluster *c, int64_t now_us, const char *expected)
{
    struct pretend_timeline at_once, stepped;
    char text[8] = "";
    pretend_timeline_init(&at_once, c, HOUR_US, now_us);
    pretend_timeline_init(&stepped, c, HOUR_US, HOUR_US);
    for (int64_t at_us; (at_us = pretend_timeline_next_us(&stepped)) != 0 && at_us <= now_us;)
        (void)pretend_timeline_take(&stepped);
    for (uint32_t i = 0; i < c->hosts.count; i++) {
        assert_int_equal(at_once.hosts.items[i].is_down, stepped.hosts.items[i].is_down);
        assert_true(at_once.hosts.items[i].load.load_avg == stepped.hosts.items[i].load.load_avg);
        if (at_once.hosts.items[i].is_down) strncat(text, c->hosts.items[i].name, 1);
    }
    assert_int_equal(pretend_timeline_next_us(&at_once), pretend_timeline_next_us(&stepped));
    assert_string_equal(text, expected);
    pretend_timeline_release(&at_once);
    pretend_timeline_release(&stepped);
}

/* Times count from an hour. */
static void test_failures_repeat(void **state)
{
    struct pretend_cluster c;
    struct err e;
    (void)state;
    assert_int_equal(read_text("{'hosts': [{'name': 'a', 'cpus': 1}, {'name': 'b', 'cpus': 1}], 'period': '24:00:00',"
                               " 'failures': [{'hosts': 'a', 'at': '1:00:00', 'for': '1:00:00'},"
                               " {'hosts': 'a', 'at': '2:00:00', 'for': '1:00:00'},"
                               " {'hosts': 'b', 'at': '23:00:00', 'for': '1:00:00'}],"
                               " 'loads': [{'hosts': 'b', 'at': '0:30:00', 'np_load_avg': 0.5}]}",
                               &c, &e),
                     0);
    assert_down(&c, HOUR_US, "");
    assert_down(&c, 2 * HOUR_US - 1, "");
    assert_down(&c, 2 * HOUR_US, "a");
    assert_down(&c, 3 * HOUR_US, "a");
    assert_down(&c, 4 * HOUR_US, "");
    assert_down(&c, 24 * HOUR_US, "b");
    assert_down(&c, 25 * HOUR_US, "");
    assert_down(&c, 26 * HOUR_US, "a");
    assert_down(&c, (24 * 100 + 24) * HOUR_US, "b");
    assert_down(&c, (24 * 100 + 25) * HOUR_US, "");
    pretend_cluster_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_hosts),
        cmocka_unit_test(test_what_is_read),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_failures_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
