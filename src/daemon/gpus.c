#include "daemon/gpus.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "daemon/gpu_watch.h"
#include "daemon/log.h"
#include "daemon/use.h"

#define FIRST_WAIT_US (3 * US_PER_S)

enum { PATH_SIZE = 4096 };

/* A process that uses a GPU. */
struct gpu_user {
    struct gpu_process process;
    uint64_t launch_id; /* 0: no job's */
    uint32_t uid;
    bool is_known; /* the last look at all processes had it */
};

struct gpu_row {
    struct gpu_found found; /* its processes are in users */
    bool is_lost;
    char fault[GPU_FAULT_SIZE]; /* why it is lost */
    ARRAY(struct gpu_user) users;
};

struct gpus {
    struct gpu_watch *watch;
    uv_timer_t soon;            /* begins a turn: changes may be found in one */
    ARRAY(struct gpu_row) rows; /* by number */
    struct idset withheld;
    uint32_t reported_count; /* in the last event */
    bool is_changed;
    bool keeps_back; /* the setting */
};

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static void release_row(struct gpu_row *row)
{
    array_release(&row->users);
}

/* Whether a task has one, so that numbers have to stay. */
static bool are_in_use(const struct daemon *d)
{
    for (uint32_t i = 0; i < d->state.tasks.count; i++) {
        const struct task *k = &d->state.tasks.items[i];
        for (uint32_t p = 0; p < k->placement_count && !job_state_is_end(k->state); p++) {
            if (k->placements[p].host == LOCAL_HOST_INDEX && idset_first(&k->placements[p].gpus) != NONE) return true;
        }
    }
    return false;
}

static struct gpu_row *find_row(struct gpus *g, const char *uuid)
{
    for (uint32_t i = 0; i < g->rows.count; i++) {
        if (strcmp(g->rows.items[i].found.uuid, uuid) == 0) return &g->rows.items[i];
    }
    return NULL;
}

/* NVIDIA's first, then in the order of the bus. Slices of a GPU stay in theirs. */
static bool is_before(const struct gpu_found *a, const struct gpu_found *b)
{
    return a->vendor != b->vendor ? a->vendor < b->vendor : strcmp(a->bus, b->bus) < 0;
}

static void number_anew(struct gpus *g)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->rows.count; i++) {
        struct gpu_row row = g->rows.items[i];
        uint32_t at = count;
        if (row.is_lost) {
            release_row(&row);
            continue;
        }
        for (; at > 0 && is_before(&row.found, &g->rows.items[at - 1].found); at--)
            g->rows.items[at] = g->rows.items[at - 1];
        g->rows.items[at] = row;
        count++;
    }
    g->rows.count = count;
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

static void write_file(const struct daemon *d)
{
    char path[PATH_SIZE], new_path[PATH_SIZE];
    text_format(path, sizeof path, "%s/gpus", d->state_dir.path);
    text_format(new_path, sizeof new_path, "%s/gpus.new", d->state_dir.path);
    FILE *file = fopen(new_path, "we");
    bool is_written = file != NULL;
    for (uint32_t i = 0; file != NULL && i < d->gpus->rows.count; i++) {
        const struct gpu_found *gpu = &d->gpus->rows.items[i].found;
        is_written &=
            fprintf(file, "%s\t%s\t%s\t%s\n", gpu_vendor_names[gpu->vendor], gpu->uuid, gpu->bus, gpu->name) > 0;
    }
    if (file != NULL) is_written &= fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (file != NULL) is_written &= fclose(file) == 0;
    if (!is_written || rename(new_path, path) != 0)
        log_line(LOG_WARNING, "gpus",
                 " path=%s fault=\"cannot be written: after a restart GPUs may have other numbers\"", path);
}

static void copy_field(struct str *rest, char out[GPU_TEXT_SIZE])
{
    if (rest->text == NULL) return;
    struct str field = str_cut(*rest, '\t', rest);
    text_format(out, GPU_TEXT_SIZE, "%.*s", (int)field.length, field.text);
}

/* Those that were there at last: they are lost until they are seen again. */
static void read_file(struct daemon *d)
{
    char path[PATH_SIZE], line[4 * GPU_TEXT_SIZE];
    text_format(path, sizeof path, "%s/gpus", d->state_dir.path);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL && d->gpus->rows.count < GPU_REPORT_GPUS_MAX) {
        struct str rest, vendor;
        line[strcspn(line, "\n")] = '\0';
        vendor = str_cut(str(line), '\t', &rest);
        struct gpu_row row = {.is_lost = true, .fault = "has not been seen since the start"};
        row.found = (struct gpu_found){.minor = -1, .mem_mib = -1, .used_mib = -1, .busy = -1};
        if (str_equal(vendor, str(gpu_vendor_names[GPU_AMD]))) row.found.vendor = GPU_AMD;
        copy_field(&rest, row.found.uuid);
        copy_field(&rest, row.found.bus);
        copy_field(&rest, row.found.name);
        if (row.found.uuid[0] != '\0' && find_row(d->gpus, row.found.uuid) == NULL) *array_add(&d->gpus->rows) = row;
    }
    if (file != NULL) fclose(file);
}

/* --- what is withheld --------------------------------------------------------------------------------------------- */

static uint32_t outside_count(const struct gpu_row *row)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < row->users.count; i++)
        count += row->users.items[i].is_known && row->users.items[i].launch_id == 0;
    return count;
}

static bool is_kept_back(const struct gpus *g, const struct gpu_row *row)
{
    return g->keeps_back && outside_count(row) > 0;
}

static void find_withheld(struct daemon *d)
{
    struct gpus *g = d->gpus;
    struct idset withheld = {0};
    for (uint32_t i = 0; i < g->rows.count; i++) {
        if (g->rows.items[i].is_lost || is_kept_back(g, &g->rows.items[i])) idset_add(&withheld, i);
    }
    g->is_changed |= !idset_equal(&withheld, &g->withheld) || g->rows.count != g->reported_count;
    idset_release(&g->withheld);
    g->withheld = withheld;
}

static void on_soon(uv_timer_t *timer)
{
    struct daemon *d = timer->data;
    d->turn(d);
}

static void follow_changes(struct daemon *d)
{
    find_withheld(d);
    if (d->gpus->is_changed) uv_timer_start(&d->gpus->soon, on_soon, 0, 0);
}

/* --- reports ------------------------------------------------------------------------------------------------------ */

/* What is known of a process stays. */
static void take_users(struct gpu_row *row, const struct gpu_found *found)
{
    ARRAY(struct gpu_user) users = {0};
    for (uint32_t i = 0; i < found->processes.count; i++) {
        struct gpu_user *user = array_add(&users);
        for (uint32_t k = 0; k < row->users.count; k++) {
            if (row->users.items[k].process.pid == found->processes.items[i].pid) *user = row->users.items[k];
        }
        user->process = found->processes.items[i];
    }
    array_release(&row->users);
    memcpy(&row->users, &users, sizeof users);
}

static void take_found(struct gpu_row *row, const struct gpu_found *found, uint32_t number)
{
    if (row->is_lost && row->fault[0] != '\0') log_line(LOG_INFO, "gpu-found", " gpu=%u uuid=%s", number, found->uuid);
    row->is_lost = false;
    row->fault[0] = '\0';
    row->found = *found;
    memset(&row->found.processes, 0, sizeof row->found.processes);
    take_users(row, found);
}

static bool has_uuid(const struct gpu_report *report, const char *uuid)
{
    bool found = false;
    for (uint32_t i = 0; i < report->list.count && !found; i++) found = strcmp(report->list.items[i].uuid, uuid) == 0;
    return found;
}

/* A GPU that the library does not report any more, although it works. */
static void mark_lost(struct gpus *g, enum gpu_vendor vendor, const struct gpu_report *report)
{
    const char *fault = report->missing[0] != '\0' ? report->missing : "is not reported any more";
    for (uint32_t i = 0; i < g->rows.count; i++) {
        struct gpu_row *row = &g->rows.items[i];
        if (row->found.vendor != vendor || has_uuid(report, row->found.uuid)) continue;
        if (strcmp(row->fault, fault) != 0)
            log_line(LOG_WARNING, "gpu-lost", " gpu=%u uuid=%s fault=\"%s\"", i, row->found.uuid, fault);
        row->is_lost = true;
        text_format(row->fault, sizeof row->fault, "%s", fault);
        row->found.used_mib = row->found.busy = -1;
        array_clear(&row->users);
    }
}

/* Returns whether there is one that has no number yet. */
static bool take_report(struct gpus *g, enum gpu_vendor vendor)
{
    const struct gpu_report *report = gpu_watch_report(g->watch, vendor);
    bool has_new = false;
    if (report == NULL) return false;
    for (uint32_t i = 0; i < report->list.count; i++) {
        struct gpu_row *row = find_row(g, report->list.items[i].uuid);
        if (row == NULL && g->rows.count >= GPU_REPORT_GPUS_MAX) break;
        if (row == NULL) {
            has_new = true;
            row = array_add(&g->rows);
        }
        take_found(row, &report->list.items[i], (uint32_t)(row - g->rows.items));
    }
    mark_lost(g, vendor, report);
    return has_new;
}

static bool has_users(const struct gpus *g)
{
    bool found = false;
    for (uint32_t i = 0; i < g->rows.count && !found; i++) found = g->rows.items[i].users.count > 0;
    return found;
}

static void on_report(void *context, enum gpu_vendor vendor)
{
    struct daemon *d = context;
    if (take_report(d->gpus, vendor)) {
        if (!are_in_use(d)) number_anew(d->gpus);
        write_file(d);
    }
    if (has_users(d->gpus)) use_look(d);
    follow_changes(d);
}

/* Which of the processes that use a GPU belong to a job. */
static void take_processes(struct daemon *d, const struct use_sample *sample)
{
    struct gpus *g = d->gpus;
    for (uint32_t i = 0; g != NULL && i < g->rows.count; i++) {
        struct gpu_row *row = &g->rows.items[i];
        for (uint32_t k = 0; k < row->users.count; k++) {
            struct gpu_user *user = &row->users.items[k];
            const struct process_sample *p = use_sample_find(sample, user->process.pid);
            user->is_known = p != NULL;
            if (p == NULL) continue;
            user->launch_id = p->launch_id;
            user->uid = p->uid;
        }
    }
    if (g != NULL) follow_changes(d);
}

/* --- to the engine ------------------------------------------------------------------------------------------------ */

struct event_host gpus_host(const struct daemon *d)
{
    struct event_host host = {.has = d->machine.has};
    if (d->gpus == NULL || d->gpus->rows.count == 0) return host;
    host.has.gpus = d->gpus->rows.count;
    host.withheld_gpus = &d->gpus->withheld;
    return host;
}

bool gpus_take_changes(struct daemon *d)
{
    struct gpus *g = d->gpus;
    if (g == NULL) return false;
    const struct settings *set = &d->state.settings;
    bool keeps_back = setting_number(set, SET_GPU_OUTSIDE) == GPU_OUTSIDE_KEEP_BACK;
    gpu_watch_set_times(g->watch, setting_number(set, SET_GPU_POLL_S), setting_number(set, SET_GPU_TIMEOUT_S));
    if (keeps_back != g->keeps_back) {
        g->keeps_back = keeps_back;
        find_withheld(d);
    }
    bool is_changed = g->is_changed;
    g->is_changed = false;
    g->reported_count = g->rows.count;
    return is_changed;
}

/* --- the environment of a task ------------------------------------------------------------------------------------ */

/* A number is what CUDA takes it for if it is that of the order of the bus, which is also that of the devices. */
static bool needs_uuids(const struct gpus *g)
{
    uint32_t index = 0;
    bool needs = false;
    for (uint32_t i = 0; i < g->rows.count; i++) {
        const struct gpu_row *row = &g->rows.items[i];
        if (row->found.vendor != GPU_NVIDIA) continue;
        needs |= row->is_lost || row->found.is_slice || (row->found.minor >= 0 && row->found.minor != index);
        needs |= index > 0 && is_before(&row->found, &g->rows.items[i - 1].found);
        index++;
    }
    return needs;
}

static uint32_t index_of_vendor(const struct gpus *g, uint32_t number)
{
    uint32_t index = 0;
    for (uint32_t i = 0; i < number; i++) index += g->rows.items[i].found.vendor == g->rows.items[number].found.vendor;
    return index;
}

/* AMD's have UUIDs unless they are known by their address. */
static void add_device(const struct gpus *g, uint32_t number, bool by_uuid, struct buf *out)
{
    const struct gpu_found *found = &g->rows.items[number].found;
    bool is_named = found->vendor == GPU_AMD ? str_starts(str(found->uuid), str("GPU-")) : by_uuid;
    if (out->length > 0) buf_add_char(out, ',');
    if (is_named)
        buf_add_text(out, found->uuid);
    else
        buf_add_u64(out, index_of_vendor(g, number));
}

void gpus_add_environment(const struct daemon *d, const struct idset *numbers,
                          void (*add)(void *context, const char *name, const char *value), void *context)
{
    static const char *const variables[] = {[GPU_NVIDIA] = "CUDA_VISIBLE_DEVICES", [GPU_AMD] = "ROCR_VISIBLE_DEVICES"};
    const struct gpus *g = d->gpus;
    for (uint32_t vendor = 0; vendor < GPU_VENDOR_COUNT; vendor++) {
        struct buf list = {0};
        bool has_any = g == NULL || (g->rows.count == 0 && vendor == GPU_NVIDIA), by_uuid = false;
        for (uint32_t i = 0; g != NULL && i < g->rows.count; i++) has_any |= g->rows.items[i].found.vendor == vendor;
        if (g != NULL) by_uuid = needs_uuids(g);
        buf_add_text(&list, "");
        for (uint32_t id = idset_first(numbers); id != NONE && has_any; id = idset_next(numbers, id)) {
            if (g == NULL || g->rows.count == 0)
                buf_format(&list, "%s%u", list.length > 0 ? "," : "", id);
            else if (id < g->rows.count && g->rows.items[id].found.vendor == vendor)
                add_device(g, id, by_uuid, &list);
        }
        if (has_any) add(context, variables[vendor], list.text != NULL ? list.text : "");
        buf_release(&list);
    }
}

/* --- for the server ----------------------------------------------------------------------------------------------- */

static void list_users(struct daemon *d, const struct gpu_row *row, struct arena *arena, struct server_gpu *out)
{
    struct server_gpu_user *users = arena_alloc(arena, (row->users.count + (size_t)1) * sizeof *users);
    for (uint32_t i = 0; i < row->users.count; i++) {
        const struct gpu_user *user = &row->users.items[i];
        users[i] = (struct server_gpu_user){.pid = user->process.pid,
                                            .mem_mib = user->process.mem_mib,
                                            .is_known = user->is_known,
                                            .launch_id = user->launch_id,
                                            .uid = user->uid,
                                            .user = user->is_known ? use_name_of(d, user->uid) : NULL};
    }
    out->users = users;
    out->user_count = row->users.count;
}

uint32_t gpus_list(void *context, struct arena *arena, const struct server_gpu **out)
{
    struct daemon *d = context;
    const struct gpus *g = d->gpus;
    if (g == NULL) return 0;
    struct server_gpu *list = arena_alloc(arena, (g->rows.count + (size_t)1) * sizeof *list);
    for (uint32_t i = 0; i < g->rows.count; i++) {
        const struct gpu_row *row = &g->rows.items[i];
        list[i] = (struct server_gpu){.vendor = gpu_vendor_names[row->found.vendor],
                                      .uuid = row->found.uuid,
                                      .bus = row->found.bus,
                                      .name = row->found.name,
                                      .minor = row->found.minor,
                                      .mem_mib = row->found.mem_mib,
                                      .used_mib = row->found.used_mib,
                                      .busy = row->found.busy,
                                      .fault = row->is_lost ? row->fault : NULL,
                                      .is_kept_back = is_kept_back(g, row)};
        list_users(d, row, arena, &list[i]);
    }
    *out = list;
    return g->rows.count;
}

/* Faults of the libraries; lost GPUs; GPUs that are in use without a job. */
void gpus_describe(void *context, struct buf *out)
{
    const struct daemon *d = context;
    const struct gpus *g = d->gpus;
    if (g == NULL) return;
    gpu_watch_describe(g->watch, out);
    for (uint32_t i = 0; i < g->rows.count; i++) {
        const struct gpu_row *row = &g->rows.items[i];
        uint32_t outside = outside_count(row);
        if (row->is_lost) buf_format(out, "%sGPU %u drained: %s", out->length > 0 ? "; " : "", i, row->fault);
        if (outside == 0) continue;
        buf_format(out, "%sGPU %u used by %u process%s without a job%s", out->length > 0 ? "; " : "", i, outside,
                   outside == 1 ? "" : "es", g->keeps_back ? ", kept back" : "");
    }
}

/* --- opening and closing ------------------------------------------------------------------------------------------ */

void gpus_open(struct daemon *d)
{
    if (d->pretend != NULL) return;
    const struct gpu_watch_host host = {d, on_report};
    d->gpus = mem_resize(NULL, 0, sizeof *d->gpus);
    uv_timer_init(&d->loop, &d->gpus->soon);
    d->gpus->soon.data = d;
    d->on_sample = take_processes;
    d->gpus->watch = gpu_watch_new(&d->loop, &host);
}

void gpus_begin(struct daemon *d)
{
    struct gpus *g = d->gpus;
    bool has_new = false, has_all = true;
    if (g == NULL) return;
    gpu_watch_wait(g->watch, FIRST_WAIT_US);
    read_file(d);
    for (uint32_t i = 0; i < GPU_VENDOR_COUNT; i++) {
        has_new |= take_report(g, (enum gpu_vendor)i);
        has_all &= gpu_watch_has_answered(g->watch, (enum gpu_vendor)i);
    }
    if (has_all && !are_in_use(d)) number_anew(g);
    if (has_new) write_file(d);
    g->keeps_back = setting_number(&d->state.settings, SET_GPU_OUTSIDE) == GPU_OUTSIDE_KEEP_BACK;
    find_withheld(d);
    g->is_changed = false;
    g->reported_count = g->rows.count;
}

void gpus_stop(struct daemon *d)
{
    if (d->gpus != NULL) gpu_watch_stop(d->gpus->watch); /* the loop closes its other handles */
}

void gpus_close(struct daemon *d)
{
    struct gpus *g = d->gpus;
    if (g == NULL) return;
    for (uint32_t i = 0; i < g->rows.count; i++) release_row(&g->rows.items[i]);
    array_release(&g->rows);
    idset_release(&g->withheld);
    gpu_watch_free(g->watch);
    mem_free(g);
    d->gpus = NULL;
}
