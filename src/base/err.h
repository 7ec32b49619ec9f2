/* Errors of the outside world as data: a kind, the thing and the field concerned, the given value and the accepted
 * ones. The function that fails fills the error and returns -1, so failing is one statement. err_sentence, the only
 * place that writes the sentence, is called where a person reads it; programs read the members, which the API passes
 * on.
 *
 *     code       subject, name   field     value   accepted, or reason            sentence
 *     INPUT                      nice      abc     a whole number from 0 to 4     nice: 'abc' is not a whole number ...
 *     INPUT      partition fast  MaxTime   x       a duration in minutes          partition 'fast': MaxTime: 'x' is ...
 *     INPUT                      array     9-1     ends before it begins          array: '9-1' ends before it begins
 *     INPUT                      jobs[0]   colour  id, user                       jobs[0]: 'colour' is not a field; ...
 *     TOO_LARGE                  cpus      8       the host's 4 CPUs              cpus: 8 exceeds the host's 4 CPUs
 *     NOT_FOUND  partition fst                                                    no partition 'fst'
 *     EXISTS     account physics                                                  account 'physics' already exists
 *     CONFLICT   job 5                             has started                    job 5 has started
 *
 * No text here names a command of Fairlead: hints are the command line's (cli/hints.h). */
#ifndef FAIRLEAD_BASE_ERR_H
#define FAIRLEAD_BASE_ERR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum err_code {
    ERR_NONE,
    ERR_USAGE,       /* a command line that cannot be read */
    ERR_INPUT,       /* a value or a file that is not acceptable */
    ERR_NOT_FOUND,   /* no such job, account, user, file */
    ERR_EXISTS,      /* the name is taken */
    ERR_CONFLICT,    /* acceptable as such, but not in the present state */
    ERR_DENIED,      /* the caller has no right to: another actor may. A refusal whoever asks is ERR_INPUT */
    ERR_TOO_LARGE,   /* more than the host has, or than a limit allows */
    ERR_UNAVAILABLE, /* no answer, or not now */
    ERR_IO,          /* the disk, the network, another process */
    ERR_INTERNAL,    /* a reply or record that breaks its own format */
    ERR_COUNT
};

/* The form of the sentence, which the function that fills the error selects. */
enum err_form {
    ERR_FORM_WHOLE,          /* reason is the whole sentence */
    ERR_FORM_FIELD,          /* FIELD: reason */
    ERR_FORM_SUBJECT,        /* SUBJECT reason */
    ERR_FORM_VALUE,          /* FIELD: VALUE reason */
    ERR_FORM_NOT_ACCEPTED,   /* FIELD: VALUE is not ACCEPTED */
    ERR_FORM_EXCEEDS,        /* FIELD: VALUE exceeds ACCEPTED */
    ERR_FORM_NOT_FOUND,      /* no SUBJECT */
    ERR_FORM_ALREADY_EXISTS, /* SUBJECT already exists */
    ERR_FORM_UNKNOWN_FIELD,  /* FIELD: VALUE is not a field; did you mean ...? Or: the fields are: ACCEPTED */
    ERR_FORM_COUNT
};

/* Every text ends with a zero byte and is truncated at a character to its size; an empty text means none. value is the
 * given text with '?' for control characters and for bytes that are not UTF-8. */
struct err {
    enum err_code code;
    enum err_form form;
    bool is_number;   /* value is written without quotes */
    char where[200];  /* "policy.conf:3:14": a file, or a position in one; the sentence begins with it */
    char subject[40]; /* the kind of thing concerned: "partition" */
    char name[80];    /* which one: "fast", "5" */
    char field[160];  /* "nice", "jobs[3].slots" */
    char value[80];
    char accepted[800];
    char reason[800];
};

enum { ERR_SENTENCE_SIZE = 1900 };

/* The error as one line of English without a full stop, with '?' for what is not printable. Returns out. */
const char *err_sentence(const struct err *e, char out[ERR_SENTENCE_SIZE]);

/* The same in memory that lasts until the end of the enclosing block. */
#define ERR_SENTENCE(e) err_sentence((e), (char[ERR_SENTENCE_SIZE]){""})

/* All of these fill *e, which may be NULL, and are -1. Formats are text_format's.
 *
 *     err_set(e, ERR_IO, "%s: %s", path, strerror(errno))                    the whole sentence
 *     err_field(e, ERR_INPUT, "parent", "only accounts have one")
 *     err_value(e, "nice", str("abc"), "a whole number from %d to %d", 0, 4)  ERR_INPUT: the accepted values
 *     err_number(e, "nice", 7, "a whole number from %d to %d", 0, 4)          the same for a number
 *     err_value_reason(e, "array", str("9-1"), "ends before it begins")       ERR_INPUT: the fault of the value
 *     err_unknown_field(e, "-o", str("colour"), "id, user")                  ERR_INPUT: the fields that there are
 *     err_exceeds(e, "cpus", 8, "the host's %u CPUs", 4)                      ERR_TOO_LARGE
 *     err_subject(e, ERR_CONFLICT, "job", str("5"), "has started")
 *     err_not_found(e, "partition", str("fst"))
 *     err_exists(e, "account", str("physics")) */
#define err_set(e, code, ...) ERR_FILL(err_fill(e, code, ERR_FORM_WHOLE, NULL, (struct str){0}, __VA_ARGS__))
#define err_field(e, code, field, ...) ERR_FILL(err_fill(e, code, ERR_FORM_FIELD, field, (struct str){0}, __VA_ARGS__))
#define err_value(e, field, value, ...) \
    ERR_FILL(err_fill(e, ERR_INPUT, ERR_FORM_NOT_ACCEPTED, field, value, __VA_ARGS__))
#define err_number(e, field, number, ...) \
    ERR_FILL(err_fill_number(e, ERR_INPUT, ERR_FORM_NOT_ACCEPTED, field, number, __VA_ARGS__))
#define err_value_reason(e, field, value, ...) \
    ERR_FILL(err_fill(e, ERR_INPUT, ERR_FORM_VALUE, field, value, __VA_ARGS__))
#define err_unknown_field(e, field, value, names) \
    ERR_FILL(err_fill(e, ERR_INPUT, ERR_FORM_UNKNOWN_FIELD, field, value, "%s", names))
#define err_exceeds(e, field, number, ...) \
    ERR_FILL(err_fill_number(e, ERR_TOO_LARGE, ERR_FORM_EXCEEDS, field, number, __VA_ARGS__))
#define err_subject(e, code, subject, name, ...) \
    ERR_FILL(err_fill_subject(e, code, ERR_FORM_SUBJECT, subject, name, __VA_ARGS__))
#define err_not_found(e, subject, name) \
    ERR_FILL(err_fill_subject(e, ERR_NOT_FOUND, ERR_FORM_NOT_FOUND, subject, name, "%s", ""))
#define err_exists(e, subject, name) \
    ERR_FILL(err_fill_subject(e, ERR_EXISTS, ERR_FORM_ALREADY_EXISTS, subject, name, "%s", ""))

/* These add to an error that was filled by a function below, and are -1, too.
 *
 *     err_of(e, "partition", str("fast"))         sets the thing concerned, unless it is set already
 *     err_in(e, "jobs[%u]", 3)                     puts a path before the field: "slots" becomes "jobs[3].slots"
 *     err_prefix(e, "%s:%u:%zu", file, 3, 14)      puts a position before the sentence
 *     err_about(e, "instance")                     for programs: sets the thing concerned; the sentence stays */
#define err_of(e, subject, name) ERR_FILL(err_add_subject(e, subject, name))
#define err_in(e, ...) ERR_FILL(err_add_path(e, __VA_ARGS__))
#define err_prefix(e, ...) ERR_FILL(err_add_where(e, __VA_ARGS__))
#define err_about(e, subject) ERR_FILL(err_set_subject(e, subject))

/* A macro, so that the compiler sees the constant -1 and can tell that outputs are set on success. */
#define ERR_FILL(call) \
    ({                 \
        call;          \
        -1;            \
    })

/* The functions behind the macros. */
void err_fill(struct err *e, enum err_code code, enum err_form form, const char *field, struct str value,
              const char *format, ...) __attribute__((format(printf, 6, 7)));
void err_fill_number(struct err *e, enum err_code code, enum err_form form, const char *field, int64_t number,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));
void err_fill_subject(struct err *e, enum err_code code, enum err_form form, const char *subject, struct str name,
                      const char *format, ...) __attribute__((format(printf, 6, 7)));
void err_add_subject(struct err *e, const char *subject, struct str name);
void err_set_subject(struct err *e, const char *subject);
void err_add_path(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
void err_add_where(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether the error means that the thing does not exist. */
bool err_is_not_found(const struct err *e, const char *subject);

/* Whether the sentence names the fields that are near an unknown one, instead of all fields. */
bool err_has_near_fields(const struct err *e);

/* A kind's name in the API, its HTTP status and its exit status, from the table. */
const char *err_name(enum err_code code);      /* "not-found": stable, part of the API */
int err_http_status(enum err_code code);       /* 404 */
int err_exit_status(enum err_code code);       /* 2: the request was wrong; 1: it failed */
enum err_code err_from_name(const char *name); /* ERR_INTERNAL for a name that is not in the table */

#endif
