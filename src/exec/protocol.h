/* The messages between daemon and launcher on DIR/launcher.sock. Pure: messages to bytes and bytes to messages.
 *
 *     frame     length: 4 bytes, of what follows | kind: 1 byte | body
 *     HELLO     "fairlead" | version: 4 bytes            both ways, first; this frame never changes
 *     INSTANCE  id | state directory                     to a system launcher, after HELLO
 *     REFUSED   a sentence: it serves another instance   to the daemon, in the place of ENFORCES
 *     START     a launch                                 to the launcher
 *     END       id: 8 bytes | grace_us: 8 bytes          to the launcher
 *     ACK       id: 8 bytes                              to the launcher
 *     WEIGHT    id: 8 bytes | weight: 4 bytes            to the launcher
 *     LIMIT     id: 8 bytes | time_limit_us: 8 bytes     to the launcher
 *     SUSPEND   id: 8 bytes | is_suspended: 1 byte | suspended_us: 8 bytes     to the launcher
 *     SIGNAL    id: 8 bytes | signal: 4 bytes | is_to_first: 1 byte            to the launcher
 *     MEASURE   empty                                    to the launcher
 *     RECORD    a record's text (record.h)               to the daemon
 *     SYNCED    empty                                    to the daemon
 *     ENFORCES  memory | CPUs | kill | outside | suspend: 1 byte each   to the daemon, right after HELLO, and when it
 *               changes
 *     USAGE     id | at_us | cpu_us | mem_kib | io_bytes, 8 bytes each      to the daemon
 *     SAMPLE    empty                                    to the launcher
 *     PROCESS   pid, parent, uid: 4 bytes each | launch id, started_us, cpu_us, children_cpu_us, mem_kib, gpus: 8 bytes
 *               each | is_low: 1 byte | name             to the daemon
 *     SAMPLED   at_us: 8 bytes | min_uid, hidden: 4 bytes each | has_gpus, is_partial: 1 byte each
 *                                                        to the daemon, after PROCESS
 *     LOW       count: 4 bytes | uids: 4 bytes each      to the launcher
 *     WARN      uid, cpus_centi, limit_centi: 4 bytes each | gpus, time_us: 8 bytes each | is_low: 1 byte
 *                                                        to the launcher
 *
 * Numbers are little-endian. Text is a length of 4 bytes and that many bytes, none of them zero. A launcher that gets a
 * HELLO of another version answers with its own version and exits. Keepers do not need it, and a launcher of the
 * daemon's version finds them again. */
#ifndef FAIRLEAD_EXEC_PROTOCOL_H
#define FAIRLEAD_EXEC_PROTOCOL_H

#include "base/arena.h"
#include "base/text.h"
#include "exec/enforcement.h"
#include "exec/launch.h"
#include "exec/launcher_owner.h"
#include "exec/outside_warning.h"
#include "exec/process_sample.h"

enum {
    PROTOCOL_VERSION = 11,
    PROTOCOL_HEADER_SIZE = 4,             /* bytes of a frame's length */
    PROTOCOL_FRAME_MAX = 64 * 1024 * 1024 /* bytes of a frame after its length */
};

enum message_kind {
    MESSAGE_HELLO = 1,
    MESSAGE_START,
    MESSAGE_END,
    MESSAGE_ACK,
    MESSAGE_RECORD,
    MESSAGE_SYNCED,
    MESSAGE_WEIGHT,
    MESSAGE_MEASURE,
    MESSAGE_USAGE,
    MESSAGE_LIMIT,
    MESSAGE_ENFORCES,
    MESSAGE_SAMPLE,
    MESSAGE_PROCESS,
    MESSAGE_SAMPLED,
    MESSAGE_LOW,
    MESSAGE_INSTANCE,
    MESSAGE_REFUSED,
    MESSAGE_WARN,
    MESSAGE_SUSPEND,
    MESSAGE_SIGNAL
};

struct message {
    enum message_kind kind;
    union {
        uint32_t version;     /* HELLO */
        struct launch launch; /* START; its memory is the arena's: do not change or release its idset */
        struct {
            uint64_t id;
            int64_t grace_us;
        } end;       /* END */
        uint64_t id; /* ACK */
        struct {
            uint64_t id;
            uint32_t cpu_weight;
        } weight; /* WEIGHT */
        struct {
            uint64_t id;
            int64_t time_limit_us;
        } limit; /* LIMIT */
        struct {
            uint64_t id;
            bool is_suspended;
            int64_t suspended_us;
        } suspend; /* SUSPEND */
        struct {
            uint64_t id;
            uint32_t number;
            bool is_to_first;
        } signal;                          /* SIGNAL */
        struct launch_record record;       /* RECORD */
        struct launch_usage usage;         /* USAGE */
        struct enforcement enforcement;    /* ENFORCES */
        struct process_sample process;     /* PROCESS */
        struct process_sample_end sampled; /* SAMPLED */
        struct {
            const uint32_t *uids; /* in the arena */
            uint32_t count;
        } low;                          /* LOW */
        struct outside_warning warning; /* WARN */
        struct launcher_owner instance; /* INSTANCE */
        const char *refusal;            /* REFUSED */
    };
};

/* Each of these appends one frame. protocol_start gives ERR_TOO_LARGE, and appends nothing, if a launch does not fit
 * into a frame. */
void protocol_hello(struct buf *out, uint32_t version);
int protocol_start(struct buf *out, const struct launch *launch, struct err *e);
void protocol_end(struct buf *out, uint64_t id, int64_t grace_us);
void protocol_ack(struct buf *out, uint64_t id);
void protocol_weight(struct buf *out, uint64_t id, uint32_t cpu_weight);
void protocol_limit(struct buf *out, uint64_t id, int64_t time_limit_us);
void protocol_suspend(struct buf *out, uint64_t id, bool is_suspended, int64_t suspended_us);
void protocol_signal(struct buf *out, uint64_t id, uint32_t number, bool is_to_first);
void protocol_measure(struct buf *out);
void protocol_record(struct buf *out, const struct launch_record *record);
void protocol_synced(struct buf *out);
void protocol_enforces(struct buf *out, struct enforcement enforcement);
void protocol_instance(struct buf *out, const struct launcher_owner *instance);
void protocol_refused(struct buf *out, const char *sentence);
void protocol_usage(struct buf *out, const struct launch_usage *usage);
void protocol_sample(struct buf *out);
void protocol_process(struct buf *out, const struct process_sample *process);
void protocol_low(struct buf *out, const uint32_t *uids, uint32_t count);
void protocol_warn(struct buf *out, const struct outside_warning *warning);
void protocol_sampled(struct buf *out, const struct process_sample_end *end);

/* Decodes the first frame in bytes. *out_used: the size of the frame with its header; 0 if the frame is not complete
 * yet, and then *out is untouched. The message's text lives in the arena a; its script stays where the bytes are.
 * ERR_INTERNAL: the bytes are not this protocol, and the connection is of no further use. O(size of the frame). */
int protocol_decode(struct str bytes, struct arena *a, size_t *out_used, struct message *out, struct err *e);

#endif
