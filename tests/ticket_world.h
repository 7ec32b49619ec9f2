/* Small Grid Engine clusters for tests, as rows: members, the share tree, usage, and jobs in the order of the
 * scheduler's list with their expected tickets. The rules are settings as a text: "weight_tickets_share 1000000000". */
#ifndef FAIRLEAD_TESTS_TICKET_WORLD_H
#define FAIRLEAD_TESTS_TICKET_WORLD_H

#include <stdio.h>
#include <string.h>

#include "base/ensure.h"
#include "policy/policy.h"

enum { WORLD_ROWS = 24, WORLD_NODES = 48 };

struct world_member {
    const char *name;
    double fshare, oticket;
};

struct world_node {
    uint32_t depth;
    const char *name;
    uint32_t shares;
};

/* CPU-seconds of a user, of a user in a project, or (user is NULL) of a project. */
struct world_usage {
    const char *user, *project;
    double used;
};

struct world_job {
    uint32_t id;
    const char *user, *project, *department, *job_class;
    uint32_t slots; /* 0: 1 */
    bool is_running;
    double job_share, override_tickets;
    double override, functional, share; /* the expected tickets */
};

/* Each list ends with a row without a name, user or id. */
struct world {
    const char *settings;
    struct world_member users[WORLD_ROWS], departments[WORLD_ROWS], projects[WORLD_ROWS], job_classes[WORLD_ROWS];
    struct world_node tree[WORLD_ROWS];
    struct world_usage usage[WORLD_ROWS];
    struct world_job jobs[WORLD_ROWS];
};

/* The input of tickets_compute for a world. */
struct ticket_case {
    const struct world *world;
    struct ticket_rules rules;
    struct ticket_member members[MEMBER_KIND_COUNT][WORLD_ROWS];
    struct ticket_node nodes[WORLD_NODES];
    const char *served[WORLD_NODES], *realm[WORLD_NODES]; /* by node: its user, and in which project */
    struct ticket_job jobs[WORLD_ROWS];
    struct share_nodes tree;
    struct map projects;
    struct ticket_input input;
    struct arena arena;
};

static inline struct ticket_rules world_rules(const char *text, struct arena *arena)
{
    struct settings settings = settings_upstream_defaults();
    struct policy policy;
    struct err e;
    for (struct str rest = str(text); rest.length > 0;) {
        struct str name = str_cut(rest, ' ', &rest), value = str_cut(rest, ' ', &rest);
        enum setting which;
        struct field_value read;
        if (setting_read(name, value, arena, &which, &read, &e) != 0) printf("%s\n", ERR_SENTENCE(&e));
        settings.value[which] = read;
    }
    ensure(policy_make(&settings, arena, &policy, &e) == 0);
    return policy.tickets;
}

static inline uint32_t world_find(const struct world_member *members, const char *name)
{
    if (name == NULL) return NONE;
    for (uint32_t i = 0; members[i].name != NULL; i++) {
        if (strcmp(members[i].name, name) == 0) return i;
    }
    ensure(!"a job names a member that is not listed");
    return NONE;
}

static inline const struct world_member *world_members(const struct world *w, int kind)
{
    return kind == MEMBER_USER         ? w->users
           : kind == MEMBER_DEPARTMENT ? w->departments
           : kind == MEMBER_PROJECT    ? w->projects
                                       : w->job_classes;
}

static inline void ticket_case_add_members(struct ticket_case *a)
{
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        const struct world_member *members = world_members(a->world, k);
        uint32_t count = 0;
        for (; members[count].name != NULL; count++)
            a->members[k][count] =
                (struct ticket_member){.fshare = members[count].fshare, .oticket = members[count].oticket};
        a->input.members[k] = a->members[k];
        a->input.member_count[k] = count;
    }
}

static inline double world_used(const struct world *w, const char *user, const char *project)
{
    for (const struct world_usage *u = w->usage; u->user != NULL || u->project != NULL; u++) {
        bool is_user = user == NULL ? u->user == NULL : u->user != NULL && strcmp(u->user, user) == 0;
        bool is_project = project == NULL ? u->project == NULL : u->project != NULL && strcmp(u->project, project) == 0;
        if (is_user && is_project) return u->used;
    }
    return 0;
}

static inline void ticket_case_add_tree(struct ticket_case *a)
{
    uint32_t above[WORLD_ROWS] = {0};
    struct err e;
    for (uint32_t i = 0; a->world->projects[i].name != NULL; i++)
        map_set(&a->projects, str(a->world->projects[i].name), i);
    for (const struct world_node *n = a->world->tree; n->name != NULL; n++) {
        uint32_t parent = n->depth == 0 ? NONE : above[n->depth - 1];
        above[n->depth] = share_nodes_add(&a->tree, parent, n->name, n->shares);
    }
    ensure(share_nodes_finish(&a->tree, &a->projects, &e) == 0);
    for (uint32_t i = 0; i < a->tree.nodes.count; i++) {
        const struct share_node *n = &a->tree.nodes.items[i];
        a->nodes[i] =
            (struct ticket_node){.parent = n->parent, .shares = n->shares, .is_group = !n->is_leaf && !n->is_project};
        a->realm[i] = n->is_project ? n->name : n->parent == NONE ? NULL : a->realm[n->parent];
        a->served[i] = n->is_leaf && !n->is_project ? n->name : NULL;
    }
    a->input.node_count = a->tree.nodes.count;
}

/* The node of a user. At `default` a virtual node is added. */
static inline uint32_t ticket_case_serve(struct ticket_case *a, const char *user, const char *project)
{
    bool is_default;
    uint32_t node = share_nodes_serve(&a->tree, user, project, &is_default), next = a->input.node_count;
    if (node == NONE || !is_default) return node;
    for (uint32_t i = a->tree.nodes.count; i < next; i++) {
        if (a->nodes[i].parent == a->nodes[node].parent && strcmp(a->served[i], user) == 0) return i;
    }
    a->nodes[next] = a->nodes[node];
    a->served[next] = user;
    a->realm[next] = a->realm[node];
    a->input.node_count++;
    return next;
}

/* The usage of a leaf is its user's, that of a project the project's, that of a group the sum over the nodes below. */
static inline void ticket_case_fill_usage(struct ticket_case *a)
{
    for (uint32_t i = a->input.node_count; i-- > 0;) {
        bool is_project = i < a->tree.nodes.count && a->tree.nodes.items[i].is_project;
        if (is_project) a->nodes[i].usage = world_used(a->world, NULL, a->realm[i]);
        if (a->served[i] != NULL) a->nodes[i].usage = world_used(a->world, a->served[i], a->realm[i]);
        if (i > 0) a->nodes[a->nodes[i].parent].usage += a->nodes[i].usage;
    }
}

static inline void ticket_case_add_jobs(struct ticket_case *a)
{
    for (const struct world_job *j = a->world->jobs; j->id != 0; j++) {
        a->jobs[a->input.job_count++] = (struct ticket_job){
            .id = j->id,
            .submit_us = j->id,
            .is_running = j->is_running,
            .member = {[MEMBER_USER] = world_find(a->world->users, j->user),
                       [MEMBER_DEPARTMENT] = world_find(a->world->departments, j->department),
                       [MEMBER_PROJECT] = world_find(a->world->projects, j->project),
                       [MEMBER_JOB_CLASS] = world_find(a->world->job_classes, j->job_class)},
            .node = ticket_case_serve(a, j->user, j->project),
            .job_share = j->job_share,
            .override_tickets = j->override_tickets,
            .slots = j->slots == 0 ? 1 : j->slots,
        };
    }
}

static inline void ticket_case_init(struct ticket_case *a, const struct world *w)
{
    *a = (struct ticket_case){.world = w};
    a->rules = world_rules(w->settings, &a->arena);
    share_nodes_init(&a->tree);
    ticket_case_add_members(a);
    ticket_case_add_tree(a);
    ticket_case_add_jobs(a);
    ticket_case_fill_usage(a);
    a->input.rules = &a->rules;
    a->input.nodes = a->nodes;
    a->input.jobs = a->jobs;
}

static inline void ticket_case_release(struct ticket_case *a)
{
    share_nodes_release(&a->tree);
    map_release(&a->projects);
    arena_release(&a->arena);
}

#endif
