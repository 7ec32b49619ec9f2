/* Listings: the choice of columns, the three forms, the order of rows, the cells of tables, and errors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cli/listing.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

enum { ID, NAME, STATE, CPUS, FACTOR, LIMIT, MEM, END, NOTE, SHARES, SECRET, FIELDS };

static const struct field fields[FIELDS] = {
    [ID] = {.name = "id", .type = FIELD_TEXT},
    [NAME] = {.name = "name", .type = FIELD_TEXT},
    [STATE] = {.name = "state", .type = FIELD_CHOICE, .choices = "PENDING,RUNNING,FAILED"},
    [CPUS] = {.name = "cpus", .type = FIELD_NUMBER, .max = 1e9, .is_nullable = true},
    [FACTOR] = {.name = "factor", .type = FIELD_REAL, .is_nullable = true},
    [LIMIT] = {.name = "limit_s", .type = FIELD_SECONDS, .max = 1e9, .special = "UNLIMITED"},
    [MEM] = {.name = "mem_mib", .type = FIELD_MEMORY, .max = 1e9},
    [END] = {.name = "end_us", .type = FIELD_TIME, .max = 1e18, .is_nullable = true},
    [NOTE] = {.name = "note", .type = FIELD_TEXT, .is_nullable = true},
    [SHARES] = {.name = "shares", .type = FIELD_NUMBER, .max = 1e9, .special = "parent"},
    [SECRET] = {.name = "secret", .type = FIELD_TEXT, .is_hidden = true},
};
static const struct field_table table = {
    .name = "Row", .rows = fields, .row_size = sizeof fields[0], .count = COUNT(fields)};

static const struct field twice_field = {.name = "cpus:twice", .type = FIELD_TEXT, .is_nullable = true};

static struct field_value compute_twice(const struct field_value *row, struct arena *arena)
{
    char text[32];
    if (row[CPUS].number == FIELD_ABSENT) return field_absent();
    text_format(text, sizeof text, "%lld", 2 * (long long)row[CPUS].number);
    return field_text(arena_copy(arena, str(text)));
}

static const struct column own_columns[] = {
    {.field = ID, .heading = "JOBID"},
    {.field = NAME, .rank = 1, .width_min = 4},
    {.field = STATE},
    {.field = CPUS},
    {.field = END, .is_for_programs = true},
    {.computed = &twice_field, .compute = compute_twice, .heading = "TWICE", .is_for_programs = true},
};
static const struct column_table own = {.fields = &table, .columns = own_columns, .count = COUNT(own_columns)};

/* --- rows and their listing --------------------------------------------------------------------------------------- */

/* One of ID, NAME, STATE (an index), CPUS (-1: none), FACTOR (0: none), END in seconds (0: none), NOTE. */
struct given {
    const char *id, *name;
    int64_t state, cpus;
    double factor;
    int64_t end_s;
    const char *note;
};

static void make_row(const struct given *g, struct field_value row[FIELDS])
{
    for (uint32_t i = 0; i < FIELDS; i++) row[i] = field_nothing(&fields[i]);
    row[ID] = field_text(g->id);
    row[NAME] = field_text(g->name);
    row[STATE] = field_number(g->state);
    if (g->cpus >= 0) row[CPUS] = field_number(g->cpus);
    if (g->factor > 0) row[FACTOR] = field_real(g->factor);
    if (g->end_s > 0) row[END] = field_number(g->end_s * 1000000);
    if (g->note != NULL) row[NOTE] = field_text(g->note);
    row[LIMIT] = field_number(125);
    row[MEM] = field_number(4096);
    row[SHARES] = field_number(FIELD_SPECIAL);
    row[SECRET] = field_text("hidden");
}

static const struct given some[] = {
    {"5_10", "beta", 0, 4, 0.5, 0, NULL},
    {"5_9", "alpha", 2, -1, 0, 1700000000, "a|b"},
    {"4", "beta", 1, 16, 1.0, 1600000000, ""},
    {"12", "alpha", 1, 4, 0.25, 0, "x"},
};

static struct output out; /* of the last listing */
static struct err refusal;

/* The output of a listing of the rows; NULL: an error, which is in refusal. */
static const char *listed_of(const struct column_table *columns, const struct listing_values *form,
                             const struct given *given, size_t count)
{
    struct listing l;
    buf_clear(&out.text);
    buf_add_text(&out.text, "");
    out.fd = -1;
    refusal = (struct err){0};
    int status = listing_begin(&l, columns, form, &out, &refusal);
    for (size_t i = 0; status == 0 && i < count; i++) {
        struct field_value row[FIELDS];
        make_row(&given[i], row);
        listing_add(&l, row);
    }
    if (status == 0) listing_end(&l);
    listing_release(&l);
    return status == 0 ? out.text.text : NULL;
}

static const char *listed(const struct listing_values form)
{
    return listed_of(&own, &form, some, COUNT(some));
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

static void tables_have_the_columns_of_the_listing(void **unused)
{
    (void)unused;
    assert_string_equal(listed((struct listing_values){0}), "JOBID  NAME   STATE    CPUS\n"
                                                            "5_10   beta   PENDING     4\n"
                                                            "5_9    alpha  FAILED      -\n"
                                                            "4      beta   RUNNING    16\n"
                                                            "12     alpha  RUNNING     4\n");
    assert_string_equal(listed((struct listing_values){.has_no_header = true}), "5_10  beta   PENDING   4\n"
                                                                                "5_9   alpha  FAILED    -\n"
                                                                                "4     beta   RUNNING  16\n"
                                                                                "12    alpha  RUNNING   4\n");
    const struct listing_values plain = {0};
    assert_string_equal(listed_of(&own, &plain, NULL, 0), ""); /* no headings without rows */
}

static void columns_are_chosen(void **unused)
{
    static const struct {
        const char *columns, *text;
    } rows[] = {
        {"name,id", "NAME   JOBID\nbeta   5_10\nalpha  5_9\nbeta   4\nalpha  12\n"},
        {"CPUS , Id", "CPUS  JOBID\n   4  5_10\n   -  5_9\n  16  4\n   4  12\n"},
        {"note,shares", "NOTE  SHARES\n-     parent\na|b   parent\n-     parent\nx     parent\n"}, /* of the record */
        {"cpus:twice", "TWICE\n8\n-\n32\n8\n"},
        {"id,id", "JOBID  JOBID\n5_10   5_10\n5_9    5_9\n4      4\n12     12\n"},
        {"state:4,id:7", "STA+  JOBID\nPEN+  5_10\nFAI+  5_9\nRUN+  4\nRUN+  12\n"},
        {"id:7,state", "JOBID    STATE\n5_10     PENDING\n5_9      FAILED\n4        RUNNING\n12       RUNNING\n"},
        {"cpus:6", "  CPUS\n     4\n     -\n    16\n     4\n"},
        {"cpus:twice:3,id", "TW+  JOBID\n8    5_10\n-    5_9\n32   4\n8    12\n"},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(listed((struct listing_values){.columns = rows[i].columns}), rows[i].text);
}

/* A column chosen with -o is never left out, however narrow the terminal is. */
static void chosen_columns_are_never_left_out(void **unused)
{
    (void)unused;
    out.width = 12;
    assert_string_equal(listed((struct listing_values){.columns = "id,name,cpus"}), "JOBID  NAME  CPUS\n"
                                                                                    "5_10   beta     4\n"
                                                                                    "5_9    alp+     -\n"
                                                                                    "4      beta    16\n"
                                                                                    "12     alp+     4\n");
    out.width = 0;
}

static void unknown_columns_are_refused(void **unused)
{
    static const char all[] = "id, name, state, cpus, end, cpus:twice, factor, limit_s, mem_mib, note, shares";
    static const struct {
        const char *columns, *error;
        bool has_all; /* the names of all fields follow */
    } rows[] = {
        {"colour", "-o: 'colour' is not a field; the fields are: ", true},
        {"id,colour:5", "-o: 'colour' is not a field; the fields are: ", true},
        {"", "-o: '' is not a field; the fields are: ", true},
        {"id,", "-o: '' is not a field; the fields are: ", true},
        {"secret", "-o: 'secret' is not a field; the fields are: ", true}, /* hidden */
        {"id:0", "-o: '0' is not a width from 1 to 65535", false},
        {"id:x", "-o: 'x' is not a width from 1 to 65535", false},
        {"id:", "-o: '' is not a width from 1 to 65535", false},
        {"id:65536", "-o: '65536' is not a width from 1 to 65535", false},
        {"id:-3", "-o: '-3' is not a width from 1 to 65535", false},
    };
    struct buf many = {0};
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char error[400];
        text_format(error, sizeof error, "%s%s", rows[i].error, rows[i].has_all ? all : "");
        assert_null(listed((struct listing_values){.columns = rows[i].columns}));
        assert_string_equal(ERR_SENTENCE(&refusal), error);
        assert_int_equal(refusal.code, ERR_INPUT);
        assert_null(listed((struct listing_values){.columns = rows[i].columns, .is_json = true}));
        assert_string_equal(out.text.text, "");
    }
    for (int i = 0; i <= TABLE_COLUMNS_MAX; i++) buf_add_text(&many, i > 0 ? ",id" : "id");
    assert_null(listed((struct listing_values){.columns = many.text}));
    assert_string_equal(ERR_SENTENCE(&refusal), "-o: more than 96 columns");
    many.text[many.length - 3] = '\0';
    assert_non_null(listed((struct listing_values){.columns = many.text}));
    buf_release(&many);
}

/* -o accepts every field that the error message lists, in any form. */
static void names_are_those_that_are_taken(void **unused)
{
    struct buf names = {0};
    (void)unused;
    listing_write_names(&own, &names);
    assert_non_null(listed((struct listing_values){.columns = names.text}));
    assert_non_null(listed((struct listing_values){.columns = names.text, .is_parsable = true}));
    assert_memory_equal(out.text.text, "id|name|state|cpus|end|cpus:twice|factor|limit_s|mem_mib|note|shares\n", 69);
    assert_non_null(listed((struct listing_values){.sort = names.text}));
    assert_non_null(listed((struct listing_values){.columns = "end_us", .is_parsable = true})); /* as in JSON */
    buf_release(&names);
}

/* --- order -------------------------------------------------------------------------------------------------------- */

/* The ids of the rows in the order of a listing. */
static const char *order(const char *sort)
{
    static char ids[100];
    const char *text =
        listed((struct listing_values){.is_parsable = true, .has_no_header = true, .columns = "id", .sort = sort});
    assert_non_null(text);
    text_format(ids, sizeof ids, "%s", text);
    for (char *p = strchr(ids, '\n'); p != NULL; p = strchr(p, '\n')) *p = ' ';
    return ids;
}

static void rows_are_sorted(void **unused)
{
    static const struct {
        const char *sort, *ids;
    } rows[] = {
        {NULL, "5_10 5_9 4 12 "},         {"id", "4 5_9 5_10 12 "}, /* digits in texts are numbers */
        {"-id", "12 5_10 5_9 4 "},        {"+id", "4 5_9 5_10 12 "},
        {"name", "5_9 12 5_10 4 "},                                    /* rows with equal keys keep their order */
        {"-name", "5_10 4 5_9 12 "},      {"state", "5_10 4 12 5_9 "}, /* in the order of the states */
        {"cpus", "5_9 5_10 12 4 "},                                    /* an absent value is first */
        {"-cpus", "4 5_10 12 5_9 "},      {"factor", "5_9 12 5_10 4 "},
        {"-factor", "4 5_10 12 5_9 "},    {"end", "5_10 12 4 5_9 "},
        {"-end_us", "5_9 4 5_10 12 "},    {"note", "5_10 4 5_9 12 "}, /* the empty text follows absent values */
        {"cpus:twice", "5_9 5_10 12 4 "}, {"name,id", "5_9 12 4 5_10 "},
        {"name,-id", "12 5_9 5_10 4 "},   {"-name, cpus", "5_10 4 5_9 12 "},
        {"cpus,name", "5_9 12 5_10 4 "},  {"state,-name,id", "5_10 4 12 5_9 "},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(order(rows[i].sort), rows[i].ids) != 0)
            fail_msg("--sort %s: %s, not %s", rows[i].sort, order(rows[i].sort), rows[i].ids);
    }
}

static void every_form_is_sorted(void **unused)
{
    (void)unused;
    assert_string_equal(listed((struct listing_values){.sort = "-cpus,id", .columns = "id,cpus"}), "JOBID  CPUS\n"
                                                                                                   "4        16\n"
                                                                                                   "5_10      4\n"
                                                                                                   "12        4\n"
                                                                                                   "5_9       -\n");
    assert_string_equal(listed((struct listing_values){.sort = "name", .columns = "id", .is_json = true}),
                        "[\n{\"id\":\"5_9\"},\n{\"id\":\"12\"},\n{\"id\":\"5_10\"},\n{\"id\":\"4\"}\n]\n");
    assert_string_equal(listed((struct listing_values){.sort = "-name", .columns = "name", .is_parsable = true}),
                        "name\nbeta\nbeta\nalpha\nalpha\n");
    const struct listing_values form = {.sort = "id", .is_json = true};
    assert_string_equal(listed_of(&own, &form, NULL, 0), "[]\n");
}

/* A listing of the same record lends its headings. */
static void headings_of_a_related_listing_are_accepted(void **unused)
{
    static const struct column other_columns[] = {{.field = CPUS, .heading = "CORES"}};
    static const struct column_table other = {
        .fields = &table, .columns = other_columns, .count = COUNT(other_columns)};
    struct column_table related = own;
    (void)unused;
    related.related = &other;
    struct listing_values form = {.columns = "cores", .is_parsable = true};
    struct given row = {.id = "1", .name = "a", .cpus = 3};
    assert_string_equal(listed_of(&related, &form, &row, 1), "cpus\n3\n");
    assert_null(listed_of(&own, &form, &row, 1));
}

static void unknown_keys_are_refused(void **unused)
{
    static const char *const keys[] = {"colour", "id,colour", "", "-", "--id", "id,", "secret", "id:5"};
    (void)unused;
    for (size_t i = 0; i < COUNT(keys); i++) {
        if (listed((struct listing_values){.sort = keys[i]}) != NULL) fail_msg("--sort '%s'", keys[i]);
        assert_string_equal(refusal.field, "--sort");
        assert_int_equal(refusal.code, ERR_INPUT);
        assert_non_null(strstr(ERR_SENTENCE(&refusal), "' is not a field; "));
        assert_int_equal(strncmp(refusal.accepted, "id, name, state, ", 17), 0);
    }
    struct buf many = {0};
    for (int i = 0; i <= TABLE_COLUMNS_MAX; i++) buf_add_text(&many, i > 0 ? ",id" : "id");
    assert_null(listed((struct listing_values){.sort = many.text}));
    buf_release(&many);
}

/* --- for programs ------------------------------------------------------------------------------------------------- */

static void parsable_rows_have_all_columns(void **unused)
{
    (void)unused;
    assert_string_equal(listed((struct listing_values){.is_parsable = true}),
                        "id|name|state|cpus|end|cpus:twice\n"
                        "5_10|beta|PENDING|4||8\n"
                        "5_9|alpha|FAILED||2023-11-14T22:13:20Z|\n"
                        "4|beta|RUNNING|16|2020-09-13T12:26:40Z|32\n"
                        "12|alpha|RUNNING|4||8\n");
    assert_string_equal(
        listed((struct listing_values){.is_parsable = true, .has_no_header = true, .columns = "note:3,limit_s"}),
        "|125\na?b|125\n|125\nx|125\n"); /* widths are for tables */
    const struct listing_values form = {.is_parsable = true};
    assert_string_equal(listed_of(&own, &form, NULL, 0), "id|name|state|cpus|end|cpus:twice\n");
}

static void objects_have_all_fields(void **unused)
{
    const struct listing_values form = {.is_json = true};
    (void)unused;
    assert_string_equal(listed_of(&own, &form, some + 1, 2),
                        "[\n{\"id\":\"5_9\",\"name\":\"alpha\",\"state\":\"FAILED\",\"cpus\":null,\"factor\":null,"
                        "\"limit_s\":125,\"mem_mib\":4096,\"end_us\":1700000000000000,\"note\":\"a|b\","
                        "\"shares\":\"parent\"},\n"
                        "{\"id\":\"4\",\"name\":\"beta\",\"state\":\"RUNNING\",\"cpus\":16,\"factor\":1,"
                        "\"limit_s\":125,\"mem_mib\":4096,\"end_us\":1600000000000000,\"note\":\"\","
                        "\"shares\":\"parent\"}\n]\n");
    assert_string_equal(listed_of(&own, &form, NULL, 0), "[]\n");
}

static void objects_have_the_fields_chosen(void **unused)
{
    const struct listing_values form = {
        .is_json = true, .columns = "cpus:twice,cpus:9,state,note", .has_no_header = true};
    (void)unused;
    assert_string_equal(listed_of(&own, &form, some, 2),
                        "[\n{\"cpus:twice\":\"8\",\"cpus\":4,\"state\":\"PENDING\",\"note\":null},\n"
                        "{\"cpus:twice\":null,\"cpus\":null,\"state\":\"FAILED\",\"note\":\"a|b\"}\n]\n");
}

static void json_of_the_instance_is_passed_on(void **unused)
{
    const struct listing_values form = {.is_json = true}, chosen = {.is_json = true, .columns = "id"},
                                sorted = {.is_json = true, .sort = "id"}, plain = {0}, parsable = {.is_parsable = true};
    struct listing l;
    (void)unused;
    assert_true(listing_takes_json(&form));
    assert_false(listing_takes_json(&chosen) || listing_takes_json(&sorted));
    assert_false(listing_takes_json(&plain) || listing_takes_json(&parsable));
    assert_true(listing_is_table(&plain));
    assert_false(listing_is_table(&form) || listing_is_table(&parsable));
    buf_clear(&out.text);
    assert_int_equal(listing_begin(&l, &own, &form, &out, &refusal), 0);
    listing_add_json(&l, str("{\"new\":1}"));
    listing_add_json(&l, str("{\"new\":2}"));
    listing_end(&l);
    listing_release(&l);
    assert_string_equal(out.text.text, "[\n{\"new\":1},\n{\"new\":2}\n]\n");
}

static void two_forms_are_refused(void **unused)
{
    (void)unused;
    assert_null(listed((struct listing_values){.is_json = true, .is_parsable = true}));
    assert_string_equal(ERR_SENTENCE(&refusal), "--json and --parsable: only one of them is accepted");
    assert_int_equal(refusal.code, ERR_USAGE);
    assert_string_equal(out.text.text, "");
}

/* --- lines between rows ------------------------------------------------------------------------------------------- */

static const char *grouped(const struct listing_values form)
{
    struct listing l;
    struct field_value row[FIELDS];
    buf_clear(&out.text);
    assert_int_equal(listing_begin(&l, &own, &form, &out, &refusal), 0);
    for (size_t i = 0; i < 2; i++) {
        listing_add_line(&l, i == 0 ? "Ones:" : "Others:");
        make_row(&some[i], row);
        listing_add(&l, row);
    }
    listing_end(&l);
    listing_release(&l);
    return out.text.text;
}

/* Only an unsorted table prints them. */
static void lines_are_for_tables(void **unused)
{
    (void)unused;
    assert_string_equal(grouped((struct listing_values){.columns = "id"}), "JOBID\nOnes:\n5_10\n\nOthers:\n5_9\n");
    assert_string_equal(grouped((struct listing_values){.columns = "id", .sort = "id"}), "JOBID\n5_9\n5_10\n");
    assert_string_equal(grouped((struct listing_values){.columns = "id", .is_parsable = true}), "id\n5_10\n5_9\n");
    assert_string_equal(grouped((struct listing_values){.columns = "id", .is_json = true}),
                        "[\n{\"id\":\"5_10\"},\n{\"id\":\"5_9\"}\n]\n");
}

static bool is_busy(const struct field_value *row)
{
    return row[CPUS].number > 0;
}

/* Only cells that a table shows. */
static void marked_cells_are_counted(void **unused)
{
    static const struct column columns[] = {{.field = ID, .heading = "JOBID", .is_marked = is_busy}, {.field = NAME}};
    static const struct column_table marked = {.fields = &table, .columns = columns, .count = COUNT(columns)};
    static const struct {
        struct listing_values form;
        uint32_t marked_count;
    } rows[] = {
        {{.columns = NULL}, 2},   {{.columns = "id", .sort = "id"}, 2},
        {{.columns = "name"}, 0}, {{.is_parsable = true}, 0},
        {{.is_json = true}, 0},
    };
    static const struct given jobs[] = {{"1", "a", .cpus = 2}, {"2", "b", .cpus = 0}, {"3", "c", .cpus = 1}};
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct output unread = {.fd = -1};
        struct listing l;
        struct field_value row[FIELDS];
        struct err e;
        assert_int_equal(listing_begin(&l, &marked, &rows[i].form, &unread, &e), 0);
        for (size_t k = 0; k < COUNT(jobs); k++) {
            make_row(&jobs[k], row);
            listing_add(&l, row);
        }
        listing_end(&l);
        assert_int_equal(l.marked_count, rows[i].marked_count);
        listing_release(&l);
        buf_release(&unread.text);
    }
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

static void show_stars(const struct field_value *row, struct buf *b)
{
    for (int64_t i = 0; i < row[CPUS].number; i++) buf_add_char(b, '*');
}

static void cells_are_for_people(void **unused)
{
    static const struct {
        struct column column;
        struct field_value value;
        const char *cell;
    } rows[] = {
        {{.field = NAME}, {0, 0, "two words"}, "two words"},
        {{.field = NAME}, {0, 0, ""}, "-"},
        {{.field = NAME, .absent_text = ""}, {0, 0, ""}, ""},
        {{.field = NOTE}, {FIELD_ABSENT, 0, NULL}, "-"},
        {{.field = NOTE, .absent_text = "(none)"}, {FIELD_ABSENT, 0, NULL}, "(none)"},
        {{.field = STATE}, {2, 0, ""}, "FAILED"},
        {{.field = CPUS}, {0, 0, ""}, "0"},
        {{.field = CPUS, .zero_is_absent = true}, {0, 0, ""}, "-"},
        {{.field = CPUS, .zero_is_absent = true}, {1, 0, ""}, "1"},
        {{.field = CPUS}, {FIELD_ABSENT, 0, NULL}, "-"},
        {{.field = LIMIT}, {125, 0, ""}, "2:05"},
        {{.field = LIMIT}, {273906, 0, ""}, "3-04:05:06"},
        {{.field = LIMIT}, {FIELD_SPECIAL, 0, ""}, "UNLIMITED"},
        {{.field = MEM}, {4096, 0, ""}, "4G"},
        {{.field = MEM}, {1536, 0, ""}, "1536M"},
        {{.field = SHARES}, {FIELD_SPECIAL, 0, ""}, "parent"},
        {{.field = FACTOR}, {0, 0.123456789, ""}, "0.123457"},
        {{.field = FACTOR}, {0, 1234567.25, ""}, "1234567"},
        {{.field = FACTOR}, {0, 123456.75, ""}, "123457"},
        {{.field = FACTOR, .is_fixed = true, .decimals = 2}, {0, 1234567.125, ""}, "1234567.12"},
        {{.field = FACTOR, .is_fixed = true}, {0, 2.5, ""}, "2"},
        {{.field = FACTOR, .is_fixed = true, .decimals = 2},
         {0, 2e15, ""},
         "2.000000e+15"}, /* an exponent for large numbers */
        {{.field = FACTOR, .is_fixed = true, .decimals = 2}, {0, (double)INFINITY, ""}, "inf"},
        {{.field = FACTOR, .is_whole = true}, {0, 7.99, ""}, "7"},
        {{.field = FACTOR, .is_whole = true}, {0, 199.99999999999997, ""}, "200"},
        {{.field = FACTOR, .is_whole = true}, {0, 199.9999999, ""}, "199"},
        {{.field = FACTOR, .is_whole = true}, {0, -7.99, ""}, "-7"},
        {{.field = FACTOR, .zero_is_absent = true}, {0, 0.0, ""}, "0"},
        {{.field = FACTOR}, {FIELD_ABSENT, (double)NAN, NULL}, "-"},
        {{.field = NOTE, .is_fixed = true, .decimals = 1}, {0, 0, "cpu=250.44,mem=25"}, "cpu=250.4,mem=25.0"},
        {{.field = NOTE, .is_fixed = true}, {0, 0, "cpu=250.6,bad,mem=x,gres/gpu=1"}, "cpu=251,gres/gpu=1"},
        {{.field = END}, {INT64_C(1600000000000000), 0, ""}, "13 Sep 2020 12:26"},
        {{.field = END}, {FIELD_ABSENT, 0, NULL}, "-"},
        {{.computed = &twice_field, .compute = compute_twice}, {3, 0, ""}, "6"},
        {{.field = CPUS, .show = show_stars}, {3, 0, ""}, "***"},
    };
    struct arena arena = {0};
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct field_value row[FIELDS];
        struct buf cell = {0};
        make_row(&some[0], row);
        row[rows[i].column.computed != NULL ? CPUS : rows[i].column.field] = rows[i].value;
        buf_add_text(&cell, "");
        listing_write_cell(&own, &rows[i].column, row, &arena, &cell);
        if (strcmp(cell.text, rows[i].cell) != 0) fail_msg("row %zu: '%s', not '%s'", i, cell.text, rows[i].cell);
        buf_release(&cell);
    }
    arena_release(&arena);
}

/* A time of the current year has seconds. */
static void times_of_this_year_are_shorter(void **unused)
{
    struct field_value row[FIELDS];
    struct buf cell = {0};
    char wanted[64];
    time_t now = time(NULL);
    struct tm local;
    (void)unused;
    localtime_r(&now, &local);
    strftime(wanted, sizeof wanted, "%d %b %H:%M:%S", &local);
    make_row(&some[0], row);
    row[END] = field_number((int64_t)now * 1000000 + 999999);
    listing_write_cell(&own, &(struct column){.field = END}, row, NULL, &cell);
    assert_string_equal(cell.text, wanted);
    buf_release(&cell);
}

static void accounts_are_indented(void **unused)
{
    static const struct column indented[] = {{.field = NAME, .indent = CPUS}, {.field = ID}};
    const struct column_table t = {.fields = &table, .columns = indented, .count = COUNT(indented)};
    static const struct given tree[] = {{"1", "root", 0, 0, 0, 0, NULL}, {"2", "leaf", 0, 2, 0, 0, NULL}};
    const struct listing_values plain = {0};
    (void)unused;
    assert_string_equal(listed_of(&t, &plain, tree, 2), "NAME    ID\nroot    1\n  leaf  2\n");
}

/* The options of every listing are rows of one table. */
static void options_fill_the_values(void **unused)
{
    struct listing_only_values values = {0};
    const struct option_rules rules = {.name = "x", .sets = {{listing_only_options, &values}}, .set_count = 1};
    char words[][16] = {"x", "-o", "id:5,name", "--sort=-id", "--noheader", "-P", "--json"};
    char *argv[COUNT(words) + 1] = {NULL};
    struct parsed parsed;
    (void)unused;
    for (size_t i = 0; i < COUNT(words); i++) argv[i] = words[i];
    assert_int_equal(options_parse(&rules, COUNT(words), argv, &parsed, &refusal), 0);
    assert_string_equal(values.listing.columns, "id:5,name");
    assert_string_equal(values.listing.sort, "-id");
    assert_true(values.listing.has_no_header && values.listing.is_parsable && values.listing.is_json);
}

static int release(void **unused)
{
    (void)unused;
    output_release(&out);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_have_the_columns_of_the_listing),
        cmocka_unit_test(columns_are_chosen),
        cmocka_unit_test(chosen_columns_are_never_left_out),
        cmocka_unit_test(unknown_columns_are_refused),
        cmocka_unit_test(names_are_those_that_are_taken),
        cmocka_unit_test(rows_are_sorted),
        cmocka_unit_test(every_form_is_sorted),
        cmocka_unit_test(headings_of_a_related_listing_are_accepted),
        cmocka_unit_test(unknown_keys_are_refused),
        cmocka_unit_test(parsable_rows_have_all_columns),
        cmocka_unit_test(objects_have_all_fields),
        cmocka_unit_test(objects_have_the_fields_chosen),
        cmocka_unit_test(json_of_the_instance_is_passed_on),
        cmocka_unit_test(two_forms_are_refused),
        cmocka_unit_test(lines_are_for_tables),
        cmocka_unit_test(marked_cells_are_counted),
        cmocka_unit_test(cells_are_for_people),
        cmocka_unit_test(times_of_this_year_are_shorter),
        cmocka_unit_test(accounts_are_indented),
        cmocka_unit_test(options_fill_the_values),
    };
    setenv("TZ", "UTC", 1);
    setenv("LC_ALL", "C", 1); /* texts that are cut end with + */
    return cmocka_run_group_tests(tests, NULL, release);
}
