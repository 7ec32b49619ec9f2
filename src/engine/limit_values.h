/* Changes of single limits, of associations and of QOS: what a text means depends on the value before it and on the
 * tracked TRES. */
#ifndef FAIRLEAD_ENGINE_LIMIT_VALUES_H
#define FAIRLEAD_ENGINE_LIMIT_VALUES_H

#include "engine/state.h"

/* Changes io_value, a value of the field, by a text as people write it: "GrpJobs=10", "MaxWall=2-0". Of limits by TRES
 * (field.is_tres) only those change that the text names; "cpu=-1" removes one, and -1, UNLIMITED, INFINITE and an empty
 * text remove all. Text goes into arena. ERR_INPUT, which names the field: a value that is not accepted, a TRES that
 * is not tracked. */
int limit_value_change(const struct state *s, const struct field *f, struct str text, struct arena *arena,
                       struct field_value *io_value, struct err *e);

struct qos_list_change {
    char sign; /* 0: replaces the list; '+': adds to it; '-': removes from it */
    struct str text;
    const char *inherited; /* the list that holds where the own one is empty; "": every QOS is allowed */
};

/* Changes a list of QOS. What is added to, or removed from, an empty list changes a copy of the inherited one.
 * ERR_NOT_FOUND: no such QOS; ERR_INPUT: a QOS to remove is not in the list, there is none to change because every QOS
 * is allowed, or the list gets too long. */
int limit_value_change_qos_list(const struct state *s, const struct field *f, const struct qos_list_change *change,
                                struct arena *arena, struct field_value *io_value, struct err *e);

/* Changes the name of a QOS; empty and -1: none. ERR_NOT_FOUND. */
int limit_value_change_qos(const struct state *s, struct str text, struct arena *arena, struct field_value *io_value,
                           struct err *e);

/* Whether a list of names ("normal,long") has the name. */
bool limit_value_list_has(const char *list, struct str name);

/* Checks limits by TRES that were stored: ERR_INPUT as limit_value_change. Other fields pass. */
int limit_value_check(const struct state *s, const struct field *f, const struct field_value *value, struct err *e);

#endif
