#include "cli/scenario_source.h"

#include "cli/read_file.h"

const char *scenario_source_name(const char *file)
{
    return file != NULL ? file : "the instance";
}

static int read_instance(struct call *call, struct buf *out_text, struct err *e)
{
    struct client client = {.fd = -1};
    struct str line;
    int more = instance_open(call, &client, e);
    if (more == 0) more = client_request(&client, "GET", API_SCENARIO, str(""), e);
    if (more == 0) {
        while ((more = client_line(&client, &line, e)) > 0) {
            buf_add_str(out_text, line);
            buf_add_char(out_text, '\n');
        }
    }
    client_close(&client);
    return more;
}

int scenario_source_read(struct call *call, const char *file, struct scenario *out, struct err *e)
{
    struct buf text = {0};
    *out = (struct scenario){0};
    call->error_has_position = file != NULL;
    int status = file != NULL ? read_file(file, &text, e) : read_instance(call, &text, e);
    if (status == 0) status = scenario_read((struct str){text.text, text.length}, scenario_source_name(file), out, e);
    buf_release(&text);
    return status;
}
