/* Which instance a state directory has. The id is in its mark (instance_mark.h) and in the database:
 *
 *     mark          database     what the directory is
 *     none          no id        new, or of an older version: it gets an id
 *     fits          the same     its own
 *     fits          no id        its own; it was killed before the commit of the id
 *     does not fit               a copy, or moved to another file system, or restored
 *     none          an id        a database that was copied or restored alone
 *     fits          another id   likewise, into the directory of another instance
 *
 * In the last three cases jobs may run where the rows come from. The state is put under quarantine
 * (engine/quarantine.h), and gets an id of its own: in the database with the commit of the quarantine, in the mark
 * after the commit that has ended all tasks of the original. A daemon that is killed in between comes to the same
 * conclusion. */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/daemon.h"
#include "daemon/log.h"

static const char moved_reason[] = "this state directory is a copy, or was moved to another file system, or restored";
static const char overwritten_reason[] =
    "files of this state directory were written again, as if an older copy was restored";
static const char foreign_reason[] = "the database is a copy or a backup of another state directory's";
static const char elsewhere_detail[] = "the state directory is a copy: the job may run where it was copied from";

static int adopt_id(struct daemon *d, const char *id, struct err *e)
{
    char new_id[INSTANCE_MARK_ID_SIZE];
    if (id == NULL && instance_mark_make_id(new_id, e) != 0) return -1;
    store_set_instance_id(d->store, id != NULL ? id : new_id);
    text_format(d->mark.id, sizeof d->mark.id, "%s", store_instance_id(d->store));
    *array_add(&d->outcome.changes) = (struct change){TABLE_COUNTERS, 0};
    return 0;
}

/* The launches of this directory are those of the instance in its mark: none of them belongs to a row of another
 * instance's database, whose launches have the same ids. So all live rows end before a launch is reported. */
static int end_live_tasks(struct daemon *d, struct err *e)
{
    const struct event event = {
        .kind = EVENT_SYNCED,
        .synced = {.boot_id = d->machine.boot_id, .lost_us = d->lost_us, .elsewhere = elsewhere_detail}};
    return engine_apply(&d->state, d->now_us, &event, &d->outcome, NULL, e);
}

static int begin_quarantine(struct daemon *d, const char *reason, struct err *e)
{
    d->is_mark_due = true;
    return daemon_quarantine(d, reason, elsewhere_detail, e) != 0 ? -1 : adopt_id(d, NULL, e);
}

/* A copy of hard links has the original's database, which it must not open. */
static int check_own_file(const struct daemon *d, struct err *e)
{
    char path[PATH_MAX];
    struct stat s;
    text_format(path, sizeof path, "%s/fairlead.db", d->state_dir.path);
    if (stat(path, &s) != 0 || s.st_nlink == 1) return 0;
    return err_set(e, ERR_INPUT,
                   "state directory %s is a copy by hard links, so its database is that of the original: copy the "
                   "directory with 'cp -a'",
                   d->state_dir.path);
}

int daemon_read_mark(struct daemon *d, struct err *e)
{
    if (d->pretend != NULL) return 0;
    if (instance_mark_probe(d->state_dir.path, d->machine.boot_id, &d->mark, e) != 0) return -1;
    if (instance_mark_read(d->state_dir.path, &d->found_mark, e) != 0) return -1;
    bool is_copy = d->found_mark.id[0] != '\0' && !instance_mark_fits(&d->found_mark, &d->mark);
    return is_copy ? check_own_file(d, e) : 0;
}

int daemon_identify(struct daemon *d, struct err *e)
{
    const struct instance_mark old = d->found_mark;
    if (d->pretend != NULL) return 0;
    const char *stored_id = store_instance_id(d->store);
    bool has_mark = old.id[0] != '\0', has_id = stored_id[0] != '\0';
    bool has_other_id = has_mark && has_id && strcmp(old.id, stored_id) != 0;
    if (has_other_id && end_live_tasks(d, e) != 0) return -1;
    if (has_mark && !instance_mark_fits(&old, &d->mark))
        return begin_quarantine(d, old.is_overwritten ? overwritten_reason : moved_reason, e);
    if (has_id && (!has_mark || has_other_id)) return begin_quarantine(d, foreign_reason, e);
    if (adopt_id(d, has_mark ? old.id : NULL, e) != 0) return -1;
    bool is_written = old.is_sealed && old.device == d->mark.device && strcmp(old.boot_id, d->mark.boot_id) == 0 &&
                      old.file_inode != 0;
    return is_written ? 0 : instance_mark_write(d->state_dir.path, &d->mark, e);
}

void daemon_end_identification(struct daemon *d)
{
    struct err e;
    d->elsewhere = NULL;
    if (!d->is_mark_due) return;
    d->is_mark_due = false;
    if (instance_mark_write(d->state_dir.path, &d->mark, &e) != 0) /* the next start finds a copy again */
        log_line(LOG_ERROR, "mark-failed", " error=\"%s\"", ERR_SENTENCE(&e));
}
