/* What daemon and launcher say to each other on DIR/launcher.sock. Pure: bytes in, messages out, and the reverse.
 *
 *     frame     length: 4 bytes, of what follows | kind: 1 byte | body
 *     HELLO     "fairlead" | version: 4 bytes            both ways, first; this frame never changes
 *     START     a launch                                 to the launcher
 *     END       id: 8 bytes | grace_us: 8 bytes          to the launcher
 *     ACK       id: 8 bytes                              to the launcher
 *     WEIGHT    id: 8 bytes | weight: 4 bytes            to the launcher
 *     RECORD    a record's text (record.h)               to the daemon
 *     SYNCED    nothing                                  to the daemon
 *
 * Numbers are little-endian; text is a length of 4 bytes and as many bytes, none of them zero. A launcher that is
 * greeted in another version answers with its own and steps aside: keepers do not need it, and a launcher of the
 * daemon's version finds them again. */
#ifndef FAIRLEAD_EXEC_PROTOCOL_H
#define FAIRLEAD_EXEC_PROTOCOL_H

#include "base/arena.h"
#include "base/text.h"
#include "exec/launch.h"

enum { PROTOCOL_VERSION = 2, PROTOCOL_FRAME_MAX = 64 * 1024 * 1024, PROTOCOL_HEADER_SIZE = 4 };

enum message_kind {
    MESSAGE_HELLO = 1,
    MESSAGE_START,
    MESSAGE_END,
    MESSAGE_ACK,
    MESSAGE_RECORD,
    MESSAGE_SYNCED,
    MESSAGE_WEIGHT
};

struct message {
    enum message_kind kind;
    union {
        uint32_t version;     /* HELLO */
        struct launch launch; /* START; its memory is the arena's, its idset must be neither changed nor released */
        struct {
            uint64_t id;
            int64_t grace_us;
        } end;       /* END */
        uint64_t id; /* ACK */
        struct {
            uint64_t id;
            uint32_t cpu_weight;
        } weight;                    /* WEIGHT */
        struct launch_record record; /* RECORD */
    };
};

/* Each appends one frame. A launch that does not fit into a frame: ERR_TOO_LARGE, nothing appended. */
void protocol_hello(struct buf *out, uint32_t version);
int protocol_start(struct buf *out, const struct launch *launch, struct err *e);
void protocol_end(struct buf *out, uint64_t id, int64_t grace_us);
void protocol_ack(struct buf *out, uint64_t id);
void protocol_weight(struct buf *out, uint64_t id, uint32_t cpu_weight);
void protocol_record(struct buf *out, const struct launch_record *record);
void protocol_synced(struct buf *out);

/* Takes the first frame of bytes apart. *out_used: its length with its head, 0 when it is not all there yet (then
 * nothing else is given). Text in the message lives in a, but for the script, which stays where the bytes are.
 * ERR_INTERNAL: these bytes are not our protocol; the connection is of no further use. */
int protocol_decode(struct str bytes, struct arena *a, size_t *out_used, struct message *out, struct err *e);

#endif
