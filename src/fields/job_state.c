#include "fields/job_state.h"

#include <string.h>

#include "base/ensure.h"

#define WORD(name) #name
const char job_state_names[] = JOB_STATES(WORD, ",");
const char job_state_choices[] = JOB_STATES(WORD, ",") ",HELD,UNKNOWN";
const char job_state_words[] = JOB_STATES(WORD, ",") ",PD,CF,R,S,CG,CD,F,CA,TO,NF,OOM,RQ";
#undef WORD

#define NAME(name) [JOB_##name] = #name,
static const char *const words[] = {JOB_STATES(NAME, ) NAME(HELD) NAME(UNKNOWN)};
#undef NAME

const char *job_state_name(enum job_state s)
{
    ensure((int)s <= JOB_UNKNOWN);
    return words[s];
}

enum job_state job_state_from_name(const char *name)
{
    int s = 0;
    while (s < JOB_STATE_COUNT && strcmp(words[s], name) != 0) s++;
    return (enum job_state)s;
}
