/* GET and POST /v1/clock: the time of the instance, and what became of it when the clock of the machine was set. */
#include <string.h>

#include "api/server/internal.h"
#include "base/ensure.h"
#include "base/quantity.h"
#include "fields/clock_fields.h"

struct api_clock server_clock_record(const struct server *server, int64_t since_us, struct arena *arena)
{
    struct server_clock c = {0};
    const struct server_host *host = &server->host;
    if (host->describe_clock != NULL) host->describe_clock(host->context, arena, &c);
    struct api_clock clock = {.now_us = host->now_us(host->context),
                              .wall_us = c.wall_us,
                              .started_us = *host->started_us,
                              .is_followed = c.is_followed,
                              .is_virtual = host->pretend_path != NULL,
                              .has_gap = c.has_gap,
                              .gap_s = c.gap_s,
                              .gap_from_us = c.gap_from_us};
    struct field_value *first = arena_alloc(arena, ((size_t)c.event_count + 1) * CLOCK_FIELD_COUNT * sizeof *first),
                       *value = first;
    for (uint32_t i = 0; i < c.event_count; i++) {
        if (c.events[i].at_us < since_us) continue;
        value[CLOCK_FIELD_AT] = field_number(c.events[i].at_us);
        value[CLOCK_FIELD_KIND] = field_text(c.events[i].kind);
        value[CLOCK_FIELD_BY] = field_number(c.events[i].by_s);
        value[CLOCK_FIELD_SHIFT] = field_number(c.events[i].shift_s);
        value += CLOCK_FIELD_COUNT;
        clock.events.count++;
    }
    clock.events.items = first;
    return clock;
}

int server_get_clock(struct request *r, struct err *e)
{
    if (request_read_query(r, NULL, e) != 0) return -1;
    const struct api_clock clock = server_clock_record(r->server, 0, &r->arena);
    reply_write(r, MHD_HTTP_OK, &api_clock_shape, &clock);
    return 0;
}

int server_post_clock(struct request *r, struct err *e)
{
    const struct server_host *host = &r->server->host;
    struct api_gap body;
    if (request_read_query(r, NULL, e) != 0) return -1;
    if (request_read_body(r, &body, e) != 0) return -1;
    if (host->settle_gap == NULL)
        return err_set(e, ERR_CONFLICT, "a pretend instance has a time of its own, without gaps");
    request_park(r, STAGE_VERIFYING);
    host->settle_gap(host->context, r, strcmp(body.gap, "count") == 0);
    return 0;
}

void server_settled(struct request *r, const struct err *e)
{
    const struct api_done done = {true};
    ensure(r->stage == STAGE_VERIFYING);
    if (e != NULL)
        reply_error(r, e);
    else
        reply_write(r, r->route->status, &api_done_shape, &done);
    request_unpark(r);
}
