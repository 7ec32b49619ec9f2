#include "fields/terminal_text.h"

int terminal_text_parse(struct str text, const char *field, struct terminal_text *out, struct err *e)
{
    struct terminal_text found = {0};
    struct str option, kind = str_cut(text, ',', &option);
    if (str_equal(kind, str("pty"))) found.kind = TERMINAL_PTY;
    if (str_equal(kind, str("pipes"))) found.kind = TERMINAL_PIPES;
    found.detaches = str_equal(option, str("detach"));
    bool is_known = text.length == 0 || (found.kind != TERMINAL_NONE && (option.text == NULL || found.detaches));
    if (!is_known) return err_value(e, field, text, "pty or pipes, or with ',detach' behind it");
    *out = found;
    return 0;
}

int terminal_text_check(struct str text, const char *field, struct err *e)
{
    struct terminal_text unused;
    return terminal_text_parse(text, field, &unused, e);
}
