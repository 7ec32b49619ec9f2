/* Encodes and decodes frames (their layout is in protocol.h).
 *
 * The decoder walks over a body with a cursor that remembers whether anything was wrong. After an error every further
 * read gives zeros and empty text, so that a body needs one check, at its end.
 *
 *  I1  A length or count is used only after it was compared with the number of remaining bytes: decoding allocates at
 *      most a small multiple of the bytes received.
 *  I2  A body is consumed exactly; bytes left over are an error.
 *  I3  Text contains no zero byte, so that a C string holds all of it.
 *
 * launch_check checks the ranges of values, not this file. */
#include "exec/protocol.h"

#include <string.h>

#include "base/ensure.h"
#include "exec/record.h"

static const char hello_magic[] = "fairlead";

enum { MAGIC_SIZE = sizeof hello_magic - 1, INSTANCE_ID_MAX = 64, INSTANCE_STATE_MAX = 4000 };

/* --- encoding ----------------------------------------------------------------------------------------------------- */

static void put_u32(struct buf *out, uint32_t value)
{
    unsigned char bytes[4];
    for (uint32_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(value >> 8 * i);
    buf_add(out, bytes, sizeof bytes);
}

static void put_u64(struct buf *out, uint64_t value)
{
    put_u32(out, (uint32_t)value);
    put_u32(out, (uint32_t)(value >> 32));
}

static void put_str(struct buf *out, struct str s)
{
    put_u32(out, (uint32_t)s.length);
    buf_add_str(out, s);
}

static void put_strings(struct buf *out, char *const *strings)
{
    uint32_t count = 0;
    while (strings[count] != NULL) count++;
    put_u32(out, count);
    for (uint32_t i = 0; i < count; i++) put_str(out, str(strings[i]));
}

/* Begins a frame with an empty length, which frame_close fills in. Returns the offset of the frame. */
static size_t frame_begin(struct buf *out, enum message_kind kind)
{
    size_t offset = out->length;
    put_u32(out, 0);
    buf_add_char(out, (char)kind);
    return offset;
}

static void frame_close(struct buf *out, size_t offset)
{
    size_t length = out->length - offset - PROTOCOL_HEADER_SIZE;
    ensure(length <= PROTOCOL_FRAME_MAX);
    for (uint32_t i = 0; i < PROTOCOL_HEADER_SIZE; i++) out->text[offset + i] = (char)(unsigned char)(length >> 8 * i);
}

void protocol_hello(struct buf *out, uint32_t version)
{
    size_t frame = frame_begin(out, MESSAGE_HELLO);
    buf_add(out, hello_magic, MAGIC_SIZE);
    put_u32(out, version);
    frame_close(out, frame);
}

static size_t strings_size(char *const *strings)
{
    size_t size = 4;
    for (; *strings != NULL; strings++) size += 4 + strlen(*strings);
    return size;
}

/* An upper bound of the frame's size. */
static size_t launch_size(const struct launch *l)
{
    enum { FIXED_SIZE = 256 }; /* more than all numbers and lengths of a launch */
    return FIXED_SIZE + strlen(l->name) + strlen(l->directory) + strlen(l->out_path) +
           (l->err_path ? strlen(l->err_path) : 0) + l->script.length + strings_size(l->arguments) +
           strings_size(l->environment) + (size_t)l->cpus.ranges.count * 8;
}

int protocol_start(struct buf *out, const struct launch *launch, struct err *e)
{
    size_t size = launch_size(launch);
    if (size > PROTOCOL_FRAME_MAX) {
        return err_exceeds(e, "size of script, arguments and environment", (int64_t)size,
                           "the %d bytes that can be sent", PROTOCOL_FRAME_MAX);
    }
    size_t frame = frame_begin(out, MESSAGE_START);
    put_u64(out, launch->id);
    put_u32(out, launch->uid);
    put_u32(out, launch->gid);
    put_str(out, str(launch->name));
    put_str(out, str(launch->directory));
    put_str(out, str(launch->out_path));
    buf_add_char(out, launch->err_path != NULL);
    put_str(out, str(launch->err_path));
    put_str(out, launch->script);
    put_strings(out, launch->arguments);
    put_strings(out, launch->environment);
    put_u32(out, launch->cpus.ranges.count);
    for (uint32_t i = 0; i < launch->cpus.ranges.count; i++) {
        put_u32(out, launch->cpus.ranges.items[i].first);
        put_u32(out, launch->cpus.ranges.items[i].last);
    }
    put_u64(out, launch->mem_mib);
    put_u64(out, (uint64_t)launch->mem_limit_kib);
    put_u64(out, (uint64_t)launch->mem_poll_us);
    put_u64(out, (uint64_t)launch->time_limit_us);
    put_u64(out, (uint64_t)launch->grace_us);
    put_u32(out, launch->warn_signal);
    put_u64(out, (uint64_t)launch->warn_before_us);
    buf_add_char(out, (char)launch->is_warn_to_first);
    buf_add_char(out, (char)launch->terminal);
    buf_add_char(out, (char)launch->ends_on_hangup);
    frame_close(out, frame);
    return 0;
}

void protocol_end(struct buf *out, uint64_t id, int64_t grace_us)
{
    size_t frame = frame_begin(out, MESSAGE_END);
    put_u64(out, id);
    put_u64(out, (uint64_t)grace_us);
    frame_close(out, frame);
}

void protocol_ack(struct buf *out, uint64_t id)
{
    size_t frame = frame_begin(out, MESSAGE_ACK);
    put_u64(out, id);
    frame_close(out, frame);
}

void protocol_weight(struct buf *out, uint64_t id, uint32_t cpu_weight)
{
    size_t frame = frame_begin(out, MESSAGE_WEIGHT);
    put_u64(out, id);
    put_u32(out, cpu_weight);
    frame_close(out, frame);
}

void protocol_limit(struct buf *out, uint64_t id, int64_t time_limit_us)
{
    size_t frame = frame_begin(out, MESSAGE_LIMIT);
    put_u64(out, id);
    put_u64(out, (uint64_t)time_limit_us);
    frame_close(out, frame);
}

void protocol_suspend(struct buf *out, uint64_t id, bool is_suspended, int64_t suspended_us)
{
    size_t frame = frame_begin(out, MESSAGE_SUSPEND);
    put_u64(out, id);
    buf_add_char(out, (char)is_suspended);
    put_u64(out, (uint64_t)suspended_us);
    frame_close(out, frame);
}

void protocol_signal(struct buf *out, uint64_t id, uint32_t number, bool is_to_first)
{
    size_t frame = frame_begin(out, MESSAGE_SIGNAL);
    put_u64(out, id);
    put_u32(out, number);
    buf_add_char(out, (char)is_to_first);
    frame_close(out, frame);
}

void protocol_measure(struct buf *out)
{
    frame_close(out, frame_begin(out, MESSAGE_MEASURE));
}

void protocol_record(struct buf *out, const struct launch_record *record)
{
    size_t frame = frame_begin(out, MESSAGE_RECORD);
    record_format(record, out);
    frame_close(out, frame);
}

void protocol_synced(struct buf *out)
{
    frame_close(out, frame_begin(out, MESSAGE_SYNCED));
}

void protocol_enforces(struct buf *out, struct enforcement enforcement)
{
    size_t frame = frame_begin(out, MESSAGE_ENFORCES);
    buf_add_char(out, (char)enforcement.memory);
    buf_add_char(out, (char)enforcement.cpus);
    buf_add_char(out, (char)enforcement.kill);
    buf_add_char(out, (char)enforcement.outside);
    buf_add_char(out, (char)enforcement.suspend);
    frame_close(out, frame);
}

void protocol_instance(struct buf *out, const struct launcher_owner *instance)
{
    size_t frame = frame_begin(out, MESSAGE_INSTANCE);
    put_str(out, str(instance->id));
    put_str(out, str(instance->state));
    frame_close(out, frame);
}

void protocol_refused(struct buf *out, const char *sentence)
{
    size_t frame = frame_begin(out, MESSAGE_REFUSED);
    put_str(out, str(sentence));
    frame_close(out, frame);
}

void protocol_usage(struct buf *out, const struct launch_usage *usage)
{
    size_t frame = frame_begin(out, MESSAGE_USAGE);
    put_u64(out, usage->id);
    put_u64(out, (uint64_t)usage->at_us);
    put_u64(out, (uint64_t)usage->cpu_us);
    put_u64(out, (uint64_t)usage->mem_kib);
    put_u64(out, (uint64_t)usage->io_bytes);
    frame_close(out, frame);
}

void protocol_sample(struct buf *out)
{
    frame_close(out, frame_begin(out, MESSAGE_SAMPLE));
}

void protocol_process(struct buf *out, const struct process_sample *process)
{
    size_t frame = frame_begin(out, MESSAGE_PROCESS);
    put_u32(out, (uint32_t)process->pid);
    put_u32(out, (uint32_t)process->parent);
    put_u32(out, process->uid);
    put_u64(out, process->launch_id);
    put_u64(out, (uint64_t)process->started_us);
    put_u64(out, (uint64_t)process->cpu_us);
    put_u64(out, (uint64_t)process->children_cpu_us);
    put_u64(out, (uint64_t)process->mem_kib);
    put_u64(out, process->gpus);
    buf_add_char(out, (char)process->is_low);
    put_str(out, str(process->name));
    frame_close(out, frame);
}

void protocol_sampled(struct buf *out, const struct process_sample_end *end)
{
    size_t frame = frame_begin(out, MESSAGE_SAMPLED);
    put_u64(out, (uint64_t)end->at_us);
    put_u32(out, end->min_uid);
    put_u32(out, end->hidden);
    buf_add_char(out, (char)end->has_gpus);
    buf_add_char(out, (char)end->is_partial);
    frame_close(out, frame);
}

void protocol_low(struct buf *out, const uint32_t *uids, uint32_t count)
{
    size_t frame = frame_begin(out, MESSAGE_LOW);
    put_u32(out, count);
    for (uint32_t i = 0; i < count; i++) put_u32(out, uids[i]);
    frame_close(out, frame);
}

void protocol_warn(struct buf *out, const struct outside_warning *warning)
{
    size_t frame = frame_begin(out, MESSAGE_WARN);
    put_u32(out, warning->uid);
    put_u32(out, warning->cpus_centi);
    put_u32(out, warning->limit_centi);
    put_u64(out, warning->gpus);
    put_u64(out, (uint64_t)warning->time_us);
    buf_add_char(out, (char)warning->is_low);
    frame_close(out, frame);
}

/* --- decoding ----------------------------------------------------------------------------------------------------- */

struct frame_cursor {
    const unsigned char *at, *end;
    struct arena *arena;
    bool is_bad;
};

static size_t bytes_left(const struct frame_cursor *c)
{
    return (size_t)(c->end - c->at);
}

/* Consumes length bytes. NULL, and the cursor becomes bad, if there are fewer (I1). */
static const unsigned char *take(struct frame_cursor *c, size_t length)
{
    if (c->is_bad || bytes_left(c) < length) {
        c->is_bad = true;
        return NULL;
    }
    const unsigned char *bytes = c->at;
    c->at += length;
    return bytes;
}

static uint32_t take_u32(struct frame_cursor *c)
{
    const unsigned char *b = take(c, 4);
    return b ? (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24 : 0;
}

static uint64_t take_u64(struct frame_cursor *c)
{
    uint64_t low = take_u32(c);
    return low | (uint64_t)take_u32(c) << 32;
}

static struct str take_str(struct frame_cursor *c)
{
    size_t length = take_u32(c);
    const char *text = (const char *)take(c, length);
    if (text == NULL) return (struct str){0};
    if (memchr(text, '\0', length) != NULL) c->is_bad = true; /* I3 */
    return (struct str){text, length};
}

static char *take_text(struct frame_cursor *c)
{
    return arena_copy(c->arena, take_str(c));
}

static char **take_strings(struct frame_cursor *c)
{
    size_t count = take_u32(c);
    if (count > bytes_left(c) / 4) { /* I1: each string has a length of 4 bytes at least */
        c->is_bad = true;
        count = 0;
    }
    char **strings = arena_alloc(c->arena, (count + 1) * sizeof *strings);
    for (size_t i = 0; i < count; i++) strings[i] = take_text(c);
    return strings;
}

static void take_cpus(struct frame_cursor *c, struct idset *out)
{
    uint32_t count = take_u32(c);
    if (count > bytes_left(c) / 8) { /* I1 */
        c->is_bad = true;
        return;
    }
    struct idset_range *ranges = arena_alloc(c->arena, count * sizeof *ranges);
    for (uint32_t i = 0; i < count; i++) {
        ranges[i].first = take_u32(c);
        ranges[i].last = take_u32(c);
    }
    out->ranges.items = ranges;
    out->ranges.count = out->ranges.capacity = count;
}

/* A value that this version does not know makes the frame a bad one. */
static uint8_t take_choice(struct frame_cursor *c, int max)
{
    const unsigned char *byte = take(c, 1);
    if (byte == NULL) return 0;
    if (*byte > max) c->is_bad = true;
    return c->is_bad ? 0 : *byte;
}

static void take_launch(struct frame_cursor *c, struct launch *out)
{
    out->id = take_u64(c);
    out->uid = take_u32(c);
    out->gid = take_u32(c);
    out->name = take_text(c);
    out->directory = take_text(c);
    out->out_path = take_text(c);
    const unsigned char *has_err_path = take(c, 1);
    const char *err_path = take_text(c);
    out->err_path = has_err_path && *has_err_path ? err_path : NULL;
    size_t script_length = take_u32(c);
    const char *script = (const char *)take(c, script_length);
    out->script = script ? (struct str){script, script_length} : (struct str){0};
    out->arguments = take_strings(c);
    out->environment = take_strings(c);
    take_cpus(c, &out->cpus);
    out->mem_mib = take_u64(c);
    out->mem_limit_kib = (int64_t)take_u64(c);
    out->mem_poll_us = (int64_t)take_u64(c);
    out->time_limit_us = (int64_t)take_u64(c);
    out->grace_us = (int64_t)take_u64(c);
    out->warn_signal = take_u32(c);
    out->warn_before_us = (int64_t)take_u64(c);
    out->is_warn_to_first = take_choice(c, 1) == 1;
    out->terminal = (enum launch_terminal)take_choice(c, LAUNCH_PIPES);
    out->ends_on_hangup = take_choice(c, 1) == 1;
}

static void take_hello(struct frame_cursor *c, uint32_t *out_version)
{
    const unsigned char *magic = take(c, MAGIC_SIZE);
    if (magic && memcmp(magic, hello_magic, MAGIC_SIZE) != 0) c->is_bad = true;
    *out_version = take_u32(c);
}

static void take_record(struct frame_cursor *c, struct launch_record *out)
{
    struct str text = {(const char *)c->at, bytes_left(c)};
    take(c, text.length);
    if (record_parse(text, out, NULL)) c->is_bad = true;
}

static void take_enforcement(struct frame_cursor *c, struct enforcement *out)
{
    out->memory = (enum enforcement_memory)take_choice(c, ENFORCEMENT_MEMORY_GROUP);
    out->cpus = (enum enforcement_cpus)take_choice(c, ENFORCEMENT_CPUS_CPUSET);
    out->kill = (enum enforcement_kill)take_choice(c, ENFORCEMENT_KILL_GROUP);
    out->outside = (enum enforcement_outside)take_choice(c, ENFORCEMENT_OUTSIDE_SLICES);
    out->suspend = (enum enforcement_suspend)take_choice(c, ENFORCEMENT_SUSPEND_GROUP);
}

/* Its lines are those of a file (launcher_owner.h). */
static void take_instance(struct frame_cursor *c, struct launcher_owner *out)
{
    out->id = take_text(c);
    out->state = take_text(c);
    bool is_bad = out->state[0] != '/' || strlen(out->id) > INSTANCE_ID_MAX || strlen(out->state) > INSTANCE_STATE_MAX;
    if (is_bad || !str_is_printable(str(out->id)) || !str_is_printable(str(out->state))) c->is_bad = true;
}

static void take_usage(struct frame_cursor *c, struct launch_usage *out)
{
    out->id = take_u64(c);
    out->at_us = (int64_t)take_u64(c);
    out->cpu_us = (int64_t)take_u64(c);
    out->mem_kib = (int64_t)take_u64(c);
    out->io_bytes = (int64_t)take_u64(c);
}

/* A name that is too long makes the frame a bad one. */
static void take_process(struct frame_cursor *c, struct process_sample *out)
{
    out->pid = (int32_t)take_u32(c);
    out->parent = (int32_t)take_u32(c);
    out->uid = take_u32(c);
    out->launch_id = take_u64(c);
    out->started_us = (int64_t)take_u64(c);
    out->cpu_us = (int64_t)take_u64(c);
    out->children_cpu_us = (int64_t)take_u64(c);
    out->mem_kib = (int64_t)take_u64(c);
    out->gpus = take_u64(c);
    out->is_low = take_choice(c, true) != 0;
    struct str name = take_str(c);
    if (name.length >= sizeof out->name) c->is_bad = true;
    if (!c->is_bad) memcpy(out->name, name.text, name.length);
}

static void take_sampled(struct frame_cursor *c, struct process_sample_end *out)
{
    out->at_us = (int64_t)take_u64(c);
    out->min_uid = take_u32(c);
    out->hidden = take_u32(c);
    out->has_gpus = take_choice(c, true) != 0;
    out->is_partial = take_choice(c, true) != 0;
}

static void take_low(struct frame_cursor *c, struct message *m)
{
    uint32_t count = take_u32(c);
    if (count > bytes_left(c) / 4) { /* I1 */
        c->is_bad = true;
        return;
    }
    uint32_t *uids = arena_alloc(c->arena, (count + (size_t)1) * sizeof *uids);
    for (uint32_t i = 0; i < count; i++) uids[i] = take_u32(c);
    m->low.uids = uids;
    m->low.count = count;
}

static void take_warning(struct frame_cursor *c, struct outside_warning *out)
{
    out->uid = take_u32(c);
    out->cpus_centi = take_u32(c);
    out->limit_centi = take_u32(c);
    out->gpus = take_u64(c);
    out->time_us = (int64_t)take_u64(c);
    out->is_low = take_choice(c, true) != 0;
    if (out->time_us < 0) c->is_bad = true;
}

static void take_body(struct frame_cursor *c, struct message *m)
{
    switch (m->kind) {
    case MESSAGE_HELLO: take_hello(c, &m->version); break;
    case MESSAGE_START: take_launch(c, &m->launch); break;
    case MESSAGE_END:
        m->end.id = take_u64(c);
        m->end.grace_us = (int64_t)take_u64(c);
        break;
    case MESSAGE_ACK: m->id = take_u64(c); break;
    case MESSAGE_RECORD: take_record(c, &m->record); break;
    case MESSAGE_MEASURE:
    case MESSAGE_SAMPLE:
    case MESSAGE_SYNCED: break;
    case MESSAGE_PROCESS: take_process(c, &m->process); break;
    case MESSAGE_SAMPLED: take_sampled(c, &m->sampled); break;
    case MESSAGE_LOW: take_low(c, m); break;
    case MESSAGE_WARN: take_warning(c, &m->warning); break;
    case MESSAGE_USAGE: take_usage(c, &m->usage); break;
    case MESSAGE_ENFORCES: take_enforcement(c, &m->enforcement); break;
    case MESSAGE_INSTANCE: take_instance(c, &m->instance); break;
    case MESSAGE_REFUSED: m->refusal = take_text(c); break;
    case MESSAGE_WEIGHT:
        m->weight.id = take_u64(c);
        m->weight.cpu_weight = take_u32(c);
        break;
    case MESSAGE_LIMIT:
        m->limit.id = take_u64(c);
        m->limit.time_limit_us = (int64_t)take_u64(c);
        break;
    case MESSAGE_SUSPEND:
        m->suspend.id = take_u64(c);
        m->suspend.is_suspended = take_choice(c, 1) == 1;
        m->suspend.suspended_us = (int64_t)take_u64(c);
        break;
    case MESSAGE_SIGNAL:
        m->signal.id = take_u64(c);
        m->signal.number = take_u32(c);
        m->signal.is_to_first = take_choice(c, 1) == 1;
        break;
    default: c->is_bad = true;
    }
}

int protocol_decode(struct str bytes, struct arena *a, size_t *out_used, struct message *out, struct err *e)
{
    if (bytes.length < PROTOCOL_HEADER_SIZE) {
        *out_used = 0;
        return 0;
    }
    struct frame_cursor header = {.at = (const unsigned char *)bytes.text,
                                  .end = (const unsigned char *)bytes.text + bytes.length};
    size_t length = take_u32(&header);
    if (length == 0 || length > PROTOCOL_FRAME_MAX) {
        return err_field(e, ERR_INTERNAL, "message", "a length of %zu bytes is not from 1 to %d", length,
                         PROTOCOL_FRAME_MAX);
    }
    if (bytes_left(&header) < length) {
        *out_used = 0;
        return 0;
    }
    struct frame_cursor body = {.at = header.at + 1, .end = header.at + length, .arena = a};
    struct message m = {.kind = (enum message_kind) * header.at};
    take_body(&body, &m);
    if (body.is_bad || bytes_left(&body) > 0) /* I2 */
        return err_field(e, ERR_INTERNAL, "message", "the body of kind %d cannot be read", (int)*header.at);
    *out = m;
    *out_used = PROTOCOL_HEADER_SIZE + length;
    return 0;
}
