/* What the world does wrong, as a value: a kind and one line of text. The function that fails fills it and returns -1,
 * so that failing is one statement; whoever talks to a person prints it. The text names the thing, the value and what
 * is accepted. One table (err.c) gives each kind its name, its HTTP status and its exit status. */
#ifndef FAIRLEAD_BASE_ERR_H
#define FAIRLEAD_BASE_ERR_H

enum err_code {
    ERR_NONE,
    ERR_USAGE,       /* a command line that cannot be read */
    ERR_INPUT,       /* a value or a file that is not acceptable */
    ERR_NOT_FOUND,   /* no such job, account, user, file */
    ERR_EXISTS,      /* it is there already */
    ERR_CONFLICT,    /* right in itself, but not in this state */
    ERR_DENIED,      /* not allowed to the one who asks */
    ERR_TOO_LARGE,   /* more than the host has, or than a limit allows */
    ERR_UNAVAILABLE, /* nobody answers, or not now */
    ERR_IO,          /* the disk, the network, another process */
    ERR_INTERNAL,    /* a reply or record that breaks its own format */
    ERR_COUNT
};

struct err {
    enum err_code code;
    char text[500];
};

/* Fills e (which may be NULL) and is -1. Formats as text_format does; longer text is cut. */
#define err_set(e, code, ...)                   \
    ({                                          \
        err_set_text((e), (code), __VA_ARGS__); \
        -1;                                     \
    })

/* Puts "prefix: " before the text that is there, and is -1: for adding where it happened. */
#define err_prefix(e, ...)                 \
    ({                                     \
        err_prefix_text((e), __VA_ARGS__); \
        -1;                                \
    })

/* Behind the macros, which tell the compiler that the result is always -1: it can then see that outputs are set. */
void err_set_text(struct err *e, enum err_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));
void err_prefix_text(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From the table: what a kind is called, and with what HTTP and exit status it is answered. */
const char *err_name(enum err_code code);      /* "not-found": stable, part of the API */
int err_http_status(enum err_code code);       /* 404 */
int err_exit_status(enum err_code code);       /* 2 for what was asked, 1 for what failed */
enum err_code err_from_name(const char *name); /* ERR_INTERNAL for a name that is not in the table */

#endif
