#include "engine/partition_waits.h"

#include "base/quantity.h"
#include "engine/closed_times.h"
#include "engine/partition_limits.h"
#include "fields/calendar_text.h"
#include "sched/timeline.h"

/* " by the calendar 'nights'"; a document gives times without one. */
static void add_calendar(const struct object *partition, struct buf *out)
{
    struct str calendar = str_trim(str(partition->value[PARTITION_CALENDAR].text));
    if (!calendar_text_is_none(calendar))
        buf_format(out, " by the calendar '%.*s'", (int)calendar.length, calendar.text);
}

static void add_closed(const struct state *s, const struct job *j, uint32_t partition, int64_t now_us, struct buf *out)
{
    const struct object *p = &s->objects[OBJECT_PARTITION].items[partition].object;
    int64_t open_us = closed_times_end(s, partition, now_us), time_s = partition_limits_time_s(s, j, partition);
    char text[32];
    if (open_us == 0 && time_s > 0 && closed_times_meet(s, partition, now_us, now_us + time_s * US_PER_S)) {
        duration_format(text, time_s);
        buf_format(out, "partition '%s' is closed", p->name);
        add_calendar(p, out);
        buf_format(out, " before the time limit of %s would have passed", text);
    } else if (open_us != 0) {
        buf_format(out, "partition '%s' is closed", p->name);
        add_calendar(p, out);
        time_format(text, open_us);
        if (open_us == TIMELINE_END)
            buf_add_text(out, ", which gives no time at which it opens");
        else
            buf_format(out, " until %s", text);
    }
}

uint32_t partition_waits_list(const struct state *s, const struct job *j, int64_t now_us, struct arena *arena,
                              const char ***out_sentences)
{
    const char **sentences = arena_alloc(arena, j->partition_count * sizeof *sentences);
    uint32_t count = 0;
    struct buf text = {0};
    for (uint32_t i = 0; i < j->partition_count; i++) {
        uint32_t partition = j->partitions[i];
        enum partition_state state = partition_limits_state(s, partition);
        buf_clear(&text);
        if (state == PARTITION_IS_DOWN || state == PARTITION_IS_INACTIVE)
            buf_format(&text, "partition '%s' has the state %s, in which nothing starts",
                       s->objects[OBJECT_PARTITION].items[partition].object.name,
                       state == PARTITION_IS_DOWN ? "DOWN" : "INACTIVE");
        else
            add_closed(s, j, partition, now_us, &text);
        if (text.length > 0) sentences[count++] = arena_copy(arena, (struct str){text.text, text.length});
    }
    buf_release(&text);
    *out_sentences = sentences;
    return count;
}
