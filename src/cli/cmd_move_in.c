/* fairlead move-in: takes the history of the user's private instance along to the instance of the system.
 *
 *     fairleadd --export-history DIR ──lines──> batches of at most ROWS_MAX rows ──POST──> the system's instance
 *
 * Each batch is one transaction there, and jobs that are there already are known by their origin. So an end in the
 * middle of it, of whatever program, leaves a part of the history moved, and the same command moves the rest. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/client/address.h"
#include "base/json.h"
#include "cli/history_source.h"
#include "cli/instance.h"

enum { ROWS_MAX = 128, BATCH_BYTES = 400000, BATCH_JOBS_MAX = ROWS_MAX, NOTES_MAX = 5, SLOW_S = 2 };

struct move_in_values {
    const char *from;
    bool is_dry_run, is_json;
};

static const struct option_row move_in_options[] = {
    {.name = "from",
     .argument = "DIR",
     .value = TEXT_IN(struct move_in_values, from),
     .help = "state directory of the private instance; default: ${XDG_STATE_HOME:-~/.local/state}/fairlead"},
    {.name = "dry-run", .value = FLAG_IN(struct move_in_values, is_dry_run), .help = "only say what would be moved"},
    {.name = "json", .value = FLAG_IN(struct move_in_values, is_json), .help = "print one JSON object"},
    {0},
};

/* Where a job's text begins in the batch, and which it is. */
struct batch_part {
    size_t begin;
    uint64_t id;
};

struct history_move {
    struct call *call;
    const struct move_in_values *values;
    struct client client;
    struct history_source source;
    struct buf batch; /* items of the list "jobs", each ended by a zero byte */
    struct batch_part parts[BATCH_JOBS_MAX];
    uint32_t part_count;
    uint64_t rows;
    struct api_moved_in total;
    uint64_t last_id, seen; /* jobs that were read */
    uint64_t refused, last_refused_id;
    time_t begin_s, shown_s;
};

/* --- one request -------------------------------------------------------------------------------------------------- */

static void write_body(const struct history_move *m, uint32_t first, uint32_t end, struct buf *out)
{
    buf_format(out, "{\"instance\":\"%s\",%s\"jobs\":[", m->source.instance,
               m->values->is_dry_run ? "\"dry_run\":true," : "");
    for (uint32_t i = first; i < end; i++)
        buf_format(out, "%s%s", i > first ? "," : "", m->batch.text + m->parts[i].begin);
    buf_add_text(out, "]}");
}

static int send_parts(struct history_move *m, uint32_t first, uint32_t end, struct err *e)
{
    struct buf body = {0};
    struct str reply;
    struct api_moved_in moved;
    struct arena arena = {0};
    write_body(m, first, end, &body);
    int status = client_request(&m->client, "POST", API_HISTORY_MOVE_IN, (struct str){body.text, body.length}, e);
    if (status == 0) status = client_rest(&m->client, &reply, e);
    if (status == 0) status = wire_read_text(&api_moved_in_shape, reply, &arena, &moved, e);
    buf_release(&body);
    arena_release(&arena);
    if (status != 0) return -1;
    m->total.jobs += moved.jobs;
    m->total.tasks += moved.tasks;
    m->total.known += moved.known;
    m->total.removed += moved.removed;
    return 0;
}

static void note_refused(struct history_move *m, uint64_t id, const struct err *e)
{
    if (m->last_refused_id == id) return;
    m->last_refused_id = id;
    if (m->refused++ < NOTES_MAX) output_note("Not moved: job %llu: %s", (unsigned long long)id, ERR_SENTENCE(e));
}

/* One record that is refused does not keep the others back. */
static int flush(struct history_move *m, struct err *e)
{
    int status = m->part_count > 0 ? send_parts(m, 0, m->part_count, e) : 0;
    if (status != 0 && e->code == ERR_INPUT) {
        status = 0;
        for (uint32_t i = 0; i < m->part_count && status == 0; i++) {
            status = send_parts(m, i, i + 1, e);
            if (status == 0 || e->code != ERR_INPUT) continue;
            note_refused(m, m->parts[i].id, e);
            status = 0;
        }
    }
    buf_clear(&m->batch);
    m->part_count = 0;
    m->rows = 0;
    return status;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static void show_progress(struct history_move *m)
{
    time_t now_s = time(NULL), passed_s = now_s - m->begin_s;
    uint64_t all = m->source.ended_jobs;
    if (passed_s < SLOW_S || now_s == m->shown_s || m->seen == 0 || all == 0 || !isatty(STDERR_FILENO)) return;
    m->shown_s = now_s;
    uint64_t left = all > m->seen ? all - m->seen : 0;
    (void)fprintf(stderr, "\r%llu of %llu jobs, about %llu s left   ", (unsigned long long)m->seen,
                  (unsigned long long)all, (unsigned long long)((uint64_t)passed_s * left / m->seen));
}

static int add_part(struct history_move *m, const struct history_part *part, struct err *e)
{
    uint64_t rows = part->task_count + 1;
    bool is_full = m->rows + rows > ROWS_MAX || m->part_count == BATCH_JOBS_MAX ||
                   m->batch.length + part->json.length > BATCH_BYTES;
    if (is_full && flush(m, e) != 0) return -1;
    m->parts[m->part_count++] = (struct batch_part){m->batch.length, part->id};
    buf_add_str(&m->batch, part->json);
    buf_add_char(&m->batch, '\0');
    m->rows += rows;
    if (part->id != m->last_id) m->seen++;
    m->last_id = part->id;
    show_progress(m);
    return 0;
}

static int move_all(struct history_move *m, struct err *e)
{
    struct history_part part;
    int result;
    while ((result = history_source_next(&m->source, &part, e)) == 1) {
        if (add_part(m, &part, e) != 0) return -1;
    }
    if (result == 0) result = flush(m, e);
    if (m->shown_s != 0) (void)fputc('\n', stderr);
    return result;
}

/* --- the result --------------------------------------------------------------------------------------------------- */

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void write_text(const struct history_move *m, struct output *out)
{
    const struct api_moved_in *t = &m->total;
    output_line(out, "%s %llu job%s with %llu start%s of %s (instance %s)",
                m->values->is_dry_run ? "Would move in" : "Moved in", (unsigned long long)t->jobs, plural(t->jobs),
                (unsigned long long)t->tasks, plural(t->tasks), m->source.directory, m->source.instance);
    if (t->known > 0) output_line(out, "%llu had been moved in before", (unsigned long long)t->known);
    if (t->removed > 0)
        output_line(out, "%llu are not kept: they ended too long ago, or were removed from the history",
                    (unsigned long long)t->removed);
    if (m->refused > 0) output_line(out, "%llu were refused", (unsigned long long)m->refused);
    if (m->source.live_jobs == 0) return;
    output_line(
        out,
        "%llu job%s there wait%s or run%s and stay%s: let them end ('fairlead queue' while it runs, 'fairlead stop' "
        "then), and run 'fairlead move-in' again",
        (unsigned long long)m->source.live_jobs, plural(m->source.live_jobs), m->source.live_jobs == 1 ? "s" : "",
        m->source.live_jobs == 1 ? "s" : "", m->source.live_jobs == 1 ? "s" : "");
}

static void write_json(const struct history_move *m, struct buf *out)
{
    struct json j = {.out = out};
    buf_add_text(out, "{\"from\":");
    json_text(&j, m->source.directory);
    buf_format(out,
               ",\"instance\":\"%s\",\"dry_run\":%s,\"jobs\":%llu,\"tasks\":%llu,\"known\":%llu,\"removed\":%llu,"
               "\"refused\":%llu,\"live\":%llu}\n",
               m->source.instance, m->values->is_dry_run ? "true" : "false", (unsigned long long)m->total.jobs,
               (unsigned long long)m->total.tasks, (unsigned long long)m->total.known,
               (unsigned long long)m->total.removed, (unsigned long long)m->refused,
               (unsigned long long)m->source.live_jobs);
}

static int write_result(const struct history_move *m, struct err *e)
{
    if (m->values->is_json)
        write_json(m, &m->call->out->text);
    else
        write_text(m, m->call->out);
    if (m->refused == 0) return 0;
    return err_set(e, ERR_IO, "%llu job%s could not be moved, because of what %s records say",
                   (unsigned long long)m->refused, plural(m->refused), m->refused == 1 ? "its" : "their");
}

/* The instance of the system, also while the private one runs, to which other commands go then. */
static int connect_to_system(struct call *call, struct client *client, struct err *e)
{
    const char *socket = call->common.socket, *variable = getenv("FAIRLEAD_SOCKET");
    if (socket == NULL) socket = variable != NULL && variable[0] != '\0' ? variable : SYSTEM_ADDRESS;
    if (address_absolute(socket, call->arena, &socket, e) != 0 || address_check(socket, e) != 0) return -1;
    if (client_connect(client, socket, e) == 0) return 0;
    if (e->code != ERR_UNAVAILABLE) return -1;
    return err_set(e, ERR_UNAVAILABLE,
                   "no instance for all users answers at %s; an administrator installs and starts it", socket);
}

static int move_in_run(struct call *call, struct err *e)
{
    const struct move_in_values *values = call->values;
    struct history_move m = {.call = call, .values = values, .client = {.fd = -1}, .begin_s = time(NULL)};
    const char *directory;
    if (address_state_directory(values->from, call->arena, &directory, e) != 0) return -1;
    if (connect_to_system(call, &m.client, e) != 0) return -1;
    client_wait_long(&m.client);
    int status = history_source_open(&m.source, directory, call->arena, e);
    if (status == 0) status = move_all(&m, e);
    client_close(&m.client);
    if (status == 0) status = write_result(&m, e);
    history_source_close(&m.source);
    buf_release(&m.batch);
    return status;
}

static const struct command_example move_in_examples[] = {
    {.line = "fairlead move-in --dry-run", .meaning = "what would be moved from your private instance"},
    {.line = "fairlead move-in --from /srv/ann/fairlead", .meaning = "of an instance that was started with --state"},
    {0},
};

const struct command cmd_move_in = {
    .name = "move-in",
    .group = GROUP_SERVICE,
    .summary = "take your private instance's history along to the system's instance",
    .usage = "[--from DIR] [--dry-run] [--json]",
    .description =
        "Copies the ended jobs of your private instance, with all their attempts, into the history of the instance that serves all "
        "users: times, states, exit statuses, CPU time, peak memory, names. They get new ids there; 'fairlead show job' and the "
        "column origin say which instance and which id they are from. The private instance keeps all it has, and need not run.\n\n"
        "It may be run again, also after it was interrupted: nothing is taken twice. Jobs that wait or run stay where they are, and are "
        "taken by a later run, once they have ended. Scripts, environments and output files stay where they are, so a moved "
        "job cannot be requeued.\n\n"
        "What is moved is history only. It counts as no usage: no share, priority or limit depends on it, and it is listed under the account "
        "moved-in. The setting max_moved_in says how much each user may move; what history_keep_s does not keep is not taken.",
    .options = move_in_options,
    .values_size = sizeof(struct move_in_values),
    .examples = move_in_examples,
    .see_also = "history start stop history-prune",
    .run = move_in_run,
};
