#include "exec/launcher/system_accounts.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "exec/launcher/durable.h"

int system_accounts_find_daemon(const char *name, bool allows_root, uid_t *out_uid, struct err *e)
{
    errno = 0;
    const struct passwd *user = getpwnam(name); /* the launcher has one thread */
    if (user == NULL && errno != 0)
        return err_set(e, ERR_UNAVAILABLE, "cannot look up account '%s': %s", name, strerror(errno));
    if (user == NULL) {
        return err_set(e, ERR_DENIED, "no account '%s': run 'adduser --system --group --no-create-home %s'", name,
                       name);
    }
    if (user->pw_uid == 0 && !allows_root) {
        return err_set(e, ERR_DENIED, "account '%s' is root: give the daemon an account of its own, or --allow-root",
                       name);
    }
    *out_uid = user->pw_uid;
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

uid_t system_accounts_parse_min_uid(struct str text)
{
    const struct str name = str("UID_MIN");
    while (text.length > 0) {
        uint64_t value;
        struct str line = str_trim(str_cut(text, '\n', &text));
        if (!str_starts(line, name) || line.length == name.length || !is_blank(line.text[name.length])) continue;
        line = str_trim(str_range(line.text + name.length, line.text + line.length));
        if (number_parse_u64(line, &value) && value < UINT32_MAX) return (uid_t)value;
    }
    return MIN_UID_DEFAULT;
}

uid_t system_accounts_read_min_uid(void)
{
    struct buf text = {0};
    uid_t uid = system_accounts_parse_min_uid(durable_read_text("/etc/login.defs", &text));
    buf_release(&text);
    return uid;
}
