/* Any bytes that a launcher or a daemon may receive are decoded or refused, without reading past their end. A message
 * that was decoded is encoded and decoded again as the same. */
#include <string.h>

#include "base/ensure.h"
#include "exec/protocol.h"

static void encode(const struct message *m, struct buf *out)
{
    switch (m->kind) {
    case MESSAGE_HELLO: protocol_hello(out, m->version); break;
    case MESSAGE_START: ensure(protocol_start(out, &m->launch, NULL) == 0); break;
    case MESSAGE_END: protocol_end(out, m->end.id, m->end.grace_us); break;
    case MESSAGE_ACK: protocol_ack(out, m->id); break;
    case MESSAGE_RECORD: protocol_record(out, &m->record); break;
    case MESSAGE_SYNCED: protocol_synced(out); break;
    case MESSAGE_MEASURE: protocol_measure(out); break;
    case MESSAGE_USAGE: protocol_usage(out, &m->usage); break;
    case MESSAGE_WEIGHT: protocol_weight(out, m->weight.id, m->weight.cpu_weight); break;
    case MESSAGE_INSTANCE: protocol_instance(out, &m->instance); break;
    case MESSAGE_REFUSED: protocol_refused(out, m->refusal); break;
    case MESSAGE_ENFORCES: protocol_enforces(out, m->enforcement); break;
    case MESSAGE_SAMPLE: protocol_sample(out); break;
    case MESSAGE_PROCESS: protocol_process(out, &m->process); break;
    case MESSAGE_SAMPLED: protocol_sampled(out, &m->sampled); break;
    case MESSAGE_LOW: protocol_low(out, m->low.uids, m->low.count); break;
    case MESSAGE_WARN: protocol_warn(out, &m->warning); break;
    case MESSAGE_SUSPEND: protocol_suspend(out, m->suspend.id, m->suspend.is_suspended, m->suspend.suspended_us); break;
    case MESSAGE_SIGNAL: protocol_signal(out, m->signal.id, m->signal.number, m->signal.is_to_first); break;
    case MESSAGE_LIMIT: protocol_limit(out, m->limit.id, m->limit.time_limit_us); break;
    }
}

/* An encoded message is decoded as one that is encoded to the same bytes. */
static void check_round_trip(const struct message *m)
{
    struct buf first = {0}, second = {0};
    struct arena a = {0};
    struct message again;
    size_t used;
    encode(m, &first);
    ensure(protocol_decode((struct str){first.text, first.length}, &a, &used, &again, NULL) == 0);
    ensure(used == first.length && again.kind == m->kind);
    encode(&again, &second);
    ensure(first.length == second.length && memcmp(first.text, second.text, first.length) == 0);
    buf_release(&first);
    buf_release(&second);
    arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct str rest = {(const char *)data, size};
    for (;;) {
        struct message m;
        struct err e = {0};
        size_t used;
        if (protocol_decode(rest, &a, &used, &m, &e)) {
            ensure(e.code == ERR_INTERNAL);
            break;
        }
        ensure(used <= rest.length);
        if (used == 0) break;
        if (m.kind == MESSAGE_START) (void)launch_check(&m.launch, &e);
        check_round_trip(&m);
        rest = (struct str){rest.text + used, rest.length - used};
    }
    ensure(a.bytes <= 64 * 1024 + 64 * size);
    arena_release(&a);
    return 0;
}
