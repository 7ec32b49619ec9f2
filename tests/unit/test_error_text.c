/* Errors as bodies of refusals: a client has the instance's error with every part, whatever its sentences are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/bodies.h"

/* Reads a body as a client does. */
static void read_body(struct str body, struct err *out_error)
{
    struct arena arena = {0};
    struct api_error read;
    struct err e;
    if (wire_read_text(&api_error_shape, body, &arena, &read, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    api_error_read(&read, out_error);
    arena_release(&arena);
}

static struct err sent_and_read(const struct err *sent)
{
    struct arena arena = {0};
    struct buf body = {0};
    struct err read;
    const struct api_error error = api_error_of(sent, &arena);
    wire_write(&api_error_shape, &error, &body);
    read_body((struct str){body.text, body.length}, &read);
    buf_release(&body);
    arena_release(&arena);
    return read;
}

static void assert_same(const struct err *a, const struct err *b)
{
    assert_int_equal(a->code, b->code);
    assert_int_equal(a->form, b->form);
    assert_int_equal(a->is_number, b->is_number);
    assert_string_equal(a->where, b->where);
    assert_string_equal(a->subject, b->subject);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->field, b->field);
    assert_string_equal(a->value, b->value);
    assert_string_equal(a->accepted, b->accepted);
    assert_string_equal(a->reason, b->reason);
    assert_string_equal(ERR_SENTENCE(a), ERR_SENTENCE(b));
}

/* Fills an error of this form. */
static void fill(enum err_form form, struct err *e)
{
    switch (form) {
    case ERR_FORM_WHOLE: err_set(e, ERR_UNAVAILABLE, "the disk is full"); return;
    case ERR_FORM_FIELD: err_field(e, ERR_INPUT, "parent", "only accounts have one"); return;
    case ERR_FORM_SUBJECT: err_subject(e, ERR_CONFLICT, "job", str("5"), "has started"); return;
    case ERR_FORM_VALUE: err_value_reason(e, "array", str("9-1"), "ends before it begins"); return;
    case ERR_FORM_NOT_ACCEPTED: err_number(e, "nice", 7, "a whole number from 0 to 4"); return;
    case ERR_FORM_EXCEEDS: err_exceeds(e, "cpus", 8, "the host's 4 CPUs"); return;
    case ERR_FORM_NOT_FOUND: err_not_found(e, "partition", str("fst")); return;
    case ERR_FORM_ALREADY_EXISTS: err_exists(e, "account", str("physics")); return;
    case ERR_FORM_UNKNOWN_FIELD: err_unknown_field(e, "jobs[0]", str("colour"), "id, user"); return;
    case ERR_FORM_COUNT: break;
    }
    fail_msg("form %d", form);
}

static void every_form_round_trips(void **unused)
{
    (void)unused;
    for (int form = 0; form < ERR_FORM_COUNT; form++) {
        struct err sent, read;
        fill((enum err_form)form, &sent);
        assert_int_equal(sent.form, form);
        read = sent_and_read(&sent);
        assert_same(&sent, &read);
        err_prefix(&sent, "policy.conf:3:14");
        read = sent_and_read(&sent);
        assert_same(&sent, &read);
    }
}

/* The message of another release does not matter: its parts do. */
static void another_sentence(void **unused)
{
    struct err e;
    (void)unused;
    read_body(str("{\"error\":{\"name\":\"too-large\",\"message\":\"too many CPUs\",\"form\":\"exceeds\","
                  "\"field\":\"cpus\",\"value\":\"8\",\"value_is_number\":true,\"accepted\":\"4 CPUs\"}}"),
              &e);
    assert_int_equal(e.form, ERR_FORM_EXCEEDS);
    assert_string_equal(ERR_SENTENCE(&e), "cpus: 8 exceeds 4 CPUs");
}

static void unknown_form(void **unused)
{
    struct err e;
    (void)unused;
    read_body(str("{\"error\":{\"name\":\"input\",\"message\":\"f:1: cpus: odd\",\"form\":\"of-tomorrow\","
                  "\"where\":\"f:1\",\"field\":\"cpus\",\"value_is_number\":false,\"reason\":\"odd\"}}"),
              &e);
    assert_int_equal(e.form, ERR_FORM_WHOLE);
    assert_string_equal(e.field, "cpus");
    assert_string_equal(ERR_SENTENCE(&e), "f:1: cpus: odd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_round_trips),
        cmocka_unit_test(another_sentence),
        cmocka_unit_test(unknown_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
