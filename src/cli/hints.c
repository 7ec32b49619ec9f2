#include "cli/hints.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/near_names.h"
#include "base/text.h"
#include "fields/settings.h"

struct hint {
    enum err_code code;
    const char *subject; /* "": none; NULL: any */
    const char *name;    /* in any case; NULL: any */
    const char *field;   /* NULL: any */
    const char *text;
};

static const struct hint hints[] = {
    {.code = ERR_UNAVAILABLE, .subject = "instance", .text = "run 'fairlead start' to start one"},
    {.code = ERR_UNAVAILABLE,
     .subject = "system instance",
     .text =
         "ask an administrator; root starts it with 'systemctl start fairlead', or 'fairlead start --system' without "
         "systemd"},
    {.code = ERR_NOT_FOUND,
     .subject = "setting",
     .name = "SchedulerParameters",
     .text =
         "its options are settings of their own: 'fairlead set bf_window=1440', of defer 'fairlead set pass_rhythm=defer'"},
    {.code = ERR_NOT_FOUND, .subject = "setting", .name = "defer", .text = "run 'fairlead set pass_rhythm=defer'"},
    {.code = ERR_NOT_FOUND,
     .subject = "setting",
     .name = "SchedulerType",
     .text = "run 'fairlead set reservations=all' for backfill, reservations=none without it"},
    {.code = ERR_NOT_FOUND,
     .subject = "setting",
     .name = "KillWait",
     .text = "run 'fairlead set grace_s=30' for the time from SIGTERM to SIGKILL"},
    {.code = ERR_NOT_FOUND,
     .subject = "setting",
     .name = "DefMemPerNode",
     .text = "run 'fairlead set default_mem_mib=1G' for the default memory of jobs"},
    {.code = ERR_NOT_FOUND, .subject = "setting", .text = "run 'fairlead set' to list them"},
    {.code = ERR_NOT_FOUND, .subject = "qos", .name = "none", .text = "an empty value, DefaultQOS=, removes it"},
    {.code = ERR_NOT_FOUND,
     .subject = "user",
     .text = "run 'fairlead user show' to list them; an administrator adds one with 'fairlead user add'"},
    {.code = ERR_NOT_FOUND,
     .subject = "user policy",
     .text = "run 'fairlead user show --policy' to list the users of the ticket policies"},
    {.code = ERR_EXISTS, .subject = "user", .text = "run 'fairlead user modify' to change it"},
    {.code = ERR_DENIED, .subject = "user", .text = "ask an administrator for one: 'fairlead user add NAME fshare=N'"},
    {.code = ERR_DENIED,
     .subject = "",
     .field = "--deadline",
     .text = "ask an administrator to allow it with 'fairlead user modify NAME deadline=yes'"},
};

/* Subjects of errors that are also commands with the subcommands add, modify, delete and show. */
static const char *const object_commands[] = {"account", "partition", "qos", "project",  "department", "resource",
                                              "host",    "group",     "pe",  "calendar", "quota"};

/* A name where a number of nodes has to be: -N is the name of a job in Grid Engine. */
static bool write_name_hint(const struct err *e, char *out)
{
    char first = e->value[0];
    bool is_name = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
    if (e->code != ERR_INPUT || strcmp(e->field, "--nodes") != 0 || !is_name) return false;
    text_format(out, HINT_SIZE, "use -J, --job-name for the job's name");
    return true;
}

static bool fits(const struct hint *h, const struct err *e)
{
    return h->code == e->code && (h->subject == NULL || strcmp(h->subject, e->subject) == 0) &&
           (h->name == NULL || strcasecmp(h->name, e->name) == 0) &&
           (h->field == NULL || strcmp(h->field, e->field) == 0);
}

static bool write_object_hint(const struct err *e, const char *command, char *out)
{
    if (strcmp(e->subject, command) != 0) return false;
    if (e->code == ERR_NOT_FOUND)
        text_format(out, HINT_SIZE,
                    "run 'fairlead %s show' to list them; an administrator adds one with 'fairlead %s add'", command,
                    command);
    else if (e->code == ERR_EXISTS)
        text_format(out, HINT_SIZE, "run 'fairlead %s modify' to change it", command);
    else
        return false;
    return true;
}

/* The setting that a mistyped name may mean. */
static bool write_setting_hint(const struct err *e, char *out)
{
    struct str near[NEAR_NAMES_MAX];
    struct buf names = {0};
    if (e->code != ERR_NOT_FOUND || strcmp(e->subject, "setting") != 0) return false;
    for (int i = 0; i < SETTING_COUNT; i++) buf_format(&names, "%s%s", i > 0 ? "," : "", settings_table[i].name);
    uint32_t count = near_names_find((struct str){names.text, names.length}, str(e->name), near);
    if (count > 0)
        text_format(out, HINT_SIZE, "did you mean '%.*s'? run 'fairlead set' to list them", (int)near[0].length,
                    near[0].text);
    buf_release(&names);
    return count > 0;
}

/* A state of a pretend cluster beside the socket, with which the reason ends, is started with its document. */
static bool write_pretend_hint(const struct err *e, char *out)
{
    const char *begin = strchr(e->reason, '/'), *end = strrchr(e->reason, '/');
    struct buf path = {0};
    if (e->code != ERR_UNAVAILABLE || strcmp(e->subject, "instance") != 0 || end == NULL) return false;
    buf_add(&path, begin, (size_t)(end - begin));
    buf_add_text(&path, "/pretend.json");
    bool is_pretend = access(path.text, F_OK) == 0;
    buf_release(&path);
    if (is_pretend) text_format(out, HINT_SIZE, "run 'fairlead start --pretend FILE' to start it again");
    return is_pretend;
}

bool hint_write(const struct err *e, char out[HINT_SIZE])
{
    if (write_pretend_hint(e, out)) return true;
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        if (!fits(&hints[i], e)) continue;
        if (hints[i].name == NULL && write_setting_hint(e, out)) return true;
        text_format(out, HINT_SIZE, "%s", hints[i].text);
        return true;
    }
    for (size_t i = 0; i < sizeof object_commands / sizeof *object_commands; i++) {
        if (write_object_hint(e, object_commands[i], out)) return true;
    }
    return write_name_hint(e, out);
}
