/* What a program of the site gets to read of a submission (server.h). */
#include "api/server/internal.h"
#include "base/ensure.h"
#include "base/json.h"

int request_write_submission(const struct request *r, struct buf *out, struct err *e)
{
    struct json j = {.out = out};
    ensure(r->submission != NULL);
    json_begin_object(&j);
    json_key(&j, "event");
    json_text(&j, "submit");
    json_key(&j, "user");
    json_text(&j, r->actor.user);
    json_key(&j, "uid");
    json_u64(&j, r->actor.uid);
    json_key(&j, "gid");
    json_u64(&j, r->actor.gid);
    json_key(&j, "job");
    if (wire_request(&api_submit_shape, r->submission, out, e) != 0) return -1;
    buf_add_text(out, "}\n");
    return 0;
}
