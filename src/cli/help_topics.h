/* Topics of 'fairlead help' that are no commands: directives, limits, reasons, times. */
#ifndef FAIRLEAD_CLI_HELP_TOPICS_H
#define FAIRLEAD_CLI_HELP_TOPICS_H

#include "base/text.h"

struct help_topic {
    const char *name;    /* "limits" */
    const char *summary; /* as of a command */
    void (*write)(struct buf *out);
};

/* Every topic; ends with {0}. */
extern const struct help_topic help_topics[];

/* NULL: there is no topic of that name. */
const struct help_topic *help_topic_find(const char *name);

/* The topic or command whose help lists a limit, a pending reason or a setting of that name, in any case: "limits" for
 * "GrpTRES". out_kind: "limit". NULL: it is none of these. */
const char *help_topic_of_name(const char *name, const char **out_kind);

/* The topic of which the word is a mistyped name, or NULL. */
const struct help_topic *help_topic_nearest(const char *word);

#endif
