#include "cli/watch.h"

#include <poll.h>
#include <unistd.h>

#include "cli/screen.h"

enum { MS_PER_S = 1000 };

/* --- one below the other ------------------------------------------------------------------------------------------ */

int watch_run_plain(struct call *call, const struct watch *w, const char *why, struct err *e)
{
    struct arena arena = {0};
    struct call frame = *call;
    frame.arena = &arena;
    if (why != NULL)
        output_note("fairlead %s: %s: printing text every %llu s; Ctrl-C ends it", call->command->name, why,
                    (unsigned long long)w->interval_s);
    screen_catch_signals();
    if (why != NULL) call->out->has_styles = false; /* what the terminal does not know, it prints */
    int status = 0;
    while (!screen_is_interrupted()) {
        arena_clear(&arena);
        screen_set_busy(true);
        status = w->write(&frame, w->context, e);
        screen_set_busy(false);
        if (status != 0 && e->code != ERR_UNAVAILABLE) break;
        if (status != 0) output_note("Trying again: %s", ERR_SENTENCE(e));
        if ((status = output_flush(call->out, e)) != 0) break;
        if (!screen_is_interrupted()) (void)poll(NULL, 0, (int)w->interval_s * MS_PER_S);
        output_line(call->out, "%s", "");
    }
    arena_release(&arena);
    return status;
}

/* --- on a screen -------------------------------------------------------------------------------------------------- */

struct watch_screen {
    const struct watch *watch;
    struct call *call;
    struct arena arena;
    struct buf text; /* of the last listing */
    uint32_t line_count, first;
    char message[200]; /* why there is no newer one; "": there is */
    bool is_over;
};

/* The old text stays while the instance is away. Any other error is the end. */
static int read_again(struct watch_screen *s, struct err *e)
{
    struct call frame = *s->call;
    struct output out = {.fd = -1, .width = screen_columns(), .has_no_notes = true};
    arena_clear(&s->arena);
    frame.arena = &s->arena;
    frame.out = &out;
    screen_set_busy(true);
    int status = s->watch->write(&frame, s->watch->context, e);
    screen_set_busy(false);
    s->message[0] = '\0';
    if (status != 0) {
        text_format(s->message, sizeof s->message, "Trying again: %s", ERR_SENTENCE(e));
        buf_release(&out.text);
        return e->code == ERR_UNAVAILABLE ? 0 : -1;
    }
    buf_release(&s->text);
    s->text = out.text;
    s->line_count = 0;
    for (size_t i = 0; i < s->text.length; i++) s->line_count += s->text.text[i] == '\n';
    return 0;
}

static uint32_t room(void)
{
    return screen_lines() > 2 ? screen_lines() - 2 : 0; /* without the headings and the last line */
}

static void draw(const struct watch_screen *s)
{
    struct str rest = {s->text.text, s->text.length};
    uint32_t last = screen_lines() - 1;
    screen_begin();
    for (uint32_t i = 0; rest.length > 0; i++) {
        struct str line = str_cut(rest, '\n', &rest);
        bool is_heading = i == 0, is_visible = i > s->first && i - s->first <= room();
        if (is_heading || is_visible)
            screen_line(is_heading ? 0 : i - s->first, line, is_heading ? SCREEN_HEADING : SCREEN_PLAIN);
    }
    if (s->line_count == 0 && s->message[0] == '\0') screen_line(0, str(s->watch->empty_text), SCREEN_PLAIN);
    bool is_alert = s->message[0] != '\0';
    screen_line(last, str(is_alert ? s->message : "q quit  arrows scroll  space read again"),
                is_alert ? SCREEN_ALERT : SCREEN_PLAIN);
    screen_end();
}

static void press(struct watch_screen *s, int key)
{
    int64_t first = s->first, rows = s->line_count > 0 ? s->line_count - 1 : 0, page = room(), max = rows - page;
    switch (key) {
    case 'q':
    case 'Q':
    case SCREEN_KEY_QUIT: s->is_over = true; return;
    case SCREEN_KEY_UP: first--; break;
    case SCREEN_KEY_DOWN: first++; break;
    case SCREEN_KEY_PAGE_UP: first -= page; break;
    case SCREEN_KEY_PAGE_DOWN: first += page; break;
    case SCREEN_KEY_HOME: first = 0; break;
    case SCREEN_KEY_LAST: first = max; break;
    default: break;
    }
    if (first > max) first = max;
    s->first = first > 0 ? (uint32_t)first : 0;
}

int watch_run(struct call *call, const struct watch *w, struct err *e)
{
    const char *why;
    struct watch_screen s = {.watch = w, .call = call};
    if (!call->out->is_terminal || !isatty(STDIN_FILENO)) return watch_run_plain(call, w, NULL, e);
    if (screen_open(&why) != 0) return watch_run_plain(call, w, why, e);
    int status = 0;
    while (!s.is_over && (status = read_again(&s, e)) == 0) {
        int key;
        press(&s, SCREEN_KEY_NONE); /* there may be fewer rows */
        do {
            draw(&s);
            key = screen_key((int64_t)w->interval_s * MS_PER_S);
            press(&s, key);
        } while (!s.is_over && key != SCREEN_KEY_NONE && key != ' ' && key != SCREEN_KEY_RESIZED);
    }
    screen_close();
    buf_release(&s.text);
    arena_release(&s.arena);
    return status;
}
