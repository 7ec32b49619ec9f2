/* Random sequences of calls of the installed library, with hostile arguments: each byte is a choice, and numbers
 * come from lists of good and bad ones. No call crashes, breaks an invariant or gives a result without a text; a
 * ranking orders all users by finite factors; and what is read back is in range. */
#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "fairlead.h"

struct input {
    const uint8_t *data;
    size_t size;
};

static uint8_t next(struct input *in)
{
    if (in->size == 0) return 0;
    in->size--;
    return *in->data++;
}

#define PICK(in, list) ((list)[next(in) % (sizeof(list) / sizeof *(list))])

static const double doubles[] = {0,    1,   2,        3,         1e-300,     1e60,     1e61,   -1,
                                 -0.0, 0.5, 100,      1e15,      4294967295, 1e-60,    5e-324, 1e300,
                                 1e18, 17,  INFINITY, -INFINITY, NAN,        0x1p-1022};
static const uint32_t numbers[] = {0, 1, 2, 3, 5, 100, 0x7ffffffe, 0x7fffffff, 0x80000000, 0xffffffff};
static const int64_t times[] = {0,
                                1,
                                1000000,
                                -1,
                                86400000000,
                                31536000000000,
                                4000000000000000000,
                                -4000000000000000000,
                                4000000000000000001,
                                INT64_MIN,
                                INT64_MAX,
                                1700000000000000,
                                1700000001000000};

static double real(struct input *in)
{
    uint8_t choice = next(in);
    if (choice >= 128) return choice - 128;
    double value;
    if (choice < 127 || in->size < sizeof value) return doubles[choice % (sizeof doubles / sizeof *doubles)];
    memcpy(&value, in->data, sizeof value);
    in->data += sizeof value;
    in->size -= sizeof value;
    return value;
}

/* Mostly a node that there is. */
static uint32_t node(struct input *in, const struct fl_tree *t)
{
    uint8_t choice = next(in);
    if (choice < 16) return PICK(in, numbers);
    return choice % fl_tree_count(t);
}

static void known(int result)
{
    ensure(strcmp(fl_result_text(result), "unknown result") != 0);
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

/* The latest time of a charge to the tree. */
static int64_t charged_us;

static void charged(int result, int64_t at_us)
{
    known(result);
    if (result == FL_OK && at_us > charged_us) charged_us = at_us;
}

static void change_halflife(struct input *in, struct fl_tree *t)
{
    int64_t halflife_us = PICK(in, times), now_us = PICK(in, times);
    int result = fl_tree_set_halflife(t, halflife_us, now_us);
    known(result);
    ensure(result != FL_OK || now_us >= charged_us);
}

static void change(struct input *in, struct fl_tree *t)
{
    uint32_t at = node(in, t);
    int64_t from_us, to_us;
    double amount;
    switch (next(in) % 8) {
    case 0:
    case 1:
    case 2: known(fl_tree_add(t, at, next(in) % 3, next(in) < 200 ? next(in) % 4u : PICK(in, numbers), NULL)); return;
    case 3: known(fl_tree_set_shares(t, at, PICK(in, numbers))); return;
    case 4:
        amount = real(in);
        to_us = PICK(in, times);
        charged(fl_tree_charge(t, at, amount, to_us), to_us);
        return;
    case 5:
        amount = real(in);
        from_us = PICK(in, times);
        to_us = PICK(in, times);
        charged(fl_tree_charge_rate(t, at, amount, from_us, to_us), to_us);
        return;
    case 6:
        amount = real(in);
        to_us = PICK(in, times);
        charged(fl_tree_set_usage(t, at, amount, to_us), to_us);
        return;
    default:
        if (next(in) % 2) {
            known(fl_tree_reset(t, at));
        } else {
            change_halflife(in, t);
        }
    }
}

static void check_ranking(const struct fl_tree *t)
{
    const uint32_t *users;
    uint32_t count;
    double before = 1;
    if (fl_tree_order(t, &users, &count) != FL_OK) return;
    for (uint32_t i = 0; i < count; i++) {
        struct fl_share s;
        struct fl_comparison c;
        ensure(fl_tree_share(t, users[i], &s) == FL_OK);
        ensure(s.factor >= 0 && s.factor <= before && s.rank >= 1 && s.rank <= i + 1);
        before = s.factor;
        ensure(fl_tree_compare(t, users[0], users[i], &c) == FL_OK && c.order <= 0);
    }
}

static void rank(struct input *in, struct fl_tree *t)
{
    static double usages[512];
    struct fl_rank_options o = {.algorithm = next(in) % 4, .ties = next(in) % 3};
    uint8_t choice = next(in);
    if (choice & 1) o.dampening = real(in);
    if (choice & 2) o.own_usage = usages;
    if (choice & 4) o.total_usage = usages;
    if (choice & 8) o.factors_only = 1;
    if (choice == 255) o.reserved[1] = 1;
    for (uint32_t i = 0; (choice & 6) != 0 && i < fl_tree_count(t); i++) usages[i] = real(in);
    int result = fl_tree_rank(t, PICK(in, times), &o);
    known(result);
    if (result == FL_OK) check_ranking(t);
}

static void ask(struct input *in, const struct fl_tree *t)
{
    struct fl_step steps[4];
    struct fl_comparison c;
    struct fl_node n;
    uint32_t count;
    double usage;
    known(fl_tree_path(t, node(in, t), steps, next(in) % 5, &count));
    known(fl_tree_compare(t, node(in, t), node(in, t), &c));
    known(fl_tree_node(t, node(in, t), &n));
    if (fl_tree_usage(t, node(in, t), PICK(in, times), &usage) == FL_OK) ensure(usage >= 0 && isfinite(usage));
}

static void bill(struct input *in)
{
    struct fl_tres tres[6];
    struct fl_bill b;
    struct fl_fault fault;
    uint32_t count = next(in) % 7;
    for (uint32_t i = 0; i < count; i++)
        tres[i] = (struct fl_tres){.kind = next(in) % 6, .amount = real(in), .weight = real(in)};
    int result = fl_job_bill(tres, next(in) == 255 ? UINT32_MAX : count, next(in) % 5 - 1, &b, NULL, &fault);
    known(result);
    if (result == FL_OK) ensure(isfinite(b.rate));
    ensure((result == FL_OK) == (fault.member == NULL));
}

static void priority(struct input *in)
{
    struct fl_priority_tres tres[2] = {{real(in), real(in), real(in)}, {real(in), real(in), real(in)}};
    struct fl_priority_rules rules = {
        .weight_age = real(in),
        .weight_assoc = real(in),
        .weight_fair_share = real(in),
        .weight_job_size = real(in),
        .weight_partition = real(in),
        .weight_qos = real(in),
        .max_age_s = PICK(in, times),
        .flags = next(in),
        .nodes = PICK(in, numbers),
        .cpus = PICK(in, numbers),
        .assoc_priority_max = PICK(in, numbers),
        .qos_priority_max = PICK(in, numbers),
        .job_factor_max = PICK(in, numbers),
    };
    struct fl_priority_job job = {
        .accrue_us = PICK(in, times),
        .time_limit_s = PICK(in, times),
        .fair_share = real(in),
        .cpus = PICK(in, numbers),
        .nodes = PICK(in, numbers),
        .assoc_priority = PICK(in, numbers),
        .qos_priority = PICK(in, numbers),
        .job_factor = PICK(in, numbers),
        .nice = (int32_t)PICK(in, numbers),
        .site = (int32_t)PICK(in, numbers),
        .tres = tres,
        .tres_count = next(in) % 3,
    };
    struct fl_priority p;
    int result = fl_job_priority(&rules, &job, PICK(in, times), &p, NULL, NULL);
    known(result);
    if (result == FL_OK) ensure(isfinite(p.sum) && p.priority >= 1);
}

static void fill_rules(struct input *in, struct fl_ticket_rules *r)
{
    fl_ticket_rules_init(r);
    double *const values[] = {
        &r->weight_tickets_share, &r->weight_tickets_functional, &r->weight_user,   &r->weight_project,
        &r->weight_job,           &r->compensation_factor,       &r->weight_ticket, &r->weight_deadline,
        &r->slots_urgency};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (next(in) % 2) *values[i] = real(in);
    }
    uint8_t flags = next(in);
    r->share_functional_shares = flags & 1;
    r->share_override_tickets = flags & 2;
    r->compensation_by_manual = flags & 4;
    r->posix_over_present = flags & 8;
    r->deadline_by_waiting = flags & 16;
    r->max_functional_jobs = PICK(in, numbers);
    for (int i = 0; flags > 127 && i < 4; i++) r->policy_hierarchy[i] = "OFS\0X"[next(in) % 5];
}

static void tickets(struct input *in, const struct fl_tree *t)
{
    struct fl_ticket_rules rules;
    struct fl_ticket_member members[3];
    struct fl_ticket_request request = {real(in), real(in), next(in) % 2, 0};
    struct fl_ticket_job jobs[12];
    struct fl_ticket_result results[12];
    struct fl_fault fault;
    fill_rules(in, &rules);
    for (int i = 0; i < 3; i++) members[i] = (struct fl_ticket_member){real(in), real(in)};
    uint32_t count = next(in) % 13;
    for (uint32_t i = 0; i < count; i++) {
        jobs[i] = (struct fl_ticket_job){
            .id = next(in),
            .submit_us = PICK(in, times),
            .deadline_us = next(in) < 200 ? 0 : PICK(in, times),
            .user = next(in) < 16 ? PICK(in, numbers) : next(in) % 3,
            .department = FL_NONE,
            .project = next(in) < 128 ? FL_NONE : next(in) % 3,
            .job_class = FL_NONE,
            .node = next(in) < 128 ? FL_NONE : node(in, t),
            .slots = next(in) < 16 ? PICK(in, numbers) : 1,
            .posix_priority = next(in) - 100,
            .is_running = next(in) % 3 == 0,
            .requests = &request,
            .request_count = next(in) % 2,
            .job_share = next(in) < 128 ? 0 : real(in),
            .override_tickets = next(in) < 128 ? 0 : real(in),
        };
    }
    struct fl_ticket_input input = {
        .rules = &rules,
        .tree = t,
        .users = members,
        .user_count = 3,
        .projects = members,
        .project_count = 3,
        .jobs = jobs,
        .job_count = count,
        .now_us = PICK(in, times),
    };
    int result = fl_job_tickets(&input, results, &fault);
    known(result);
    for (uint32_t i = 0; result == FL_OK && i < count; i++)
        ensure(results[i].tickets >= 0 && isfinite(results[i].priority));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct fl_tree *t;
    ensure(fl_tree_new(&t) == FL_OK);
    charged_us = INT64_MIN;
    for (int calls = 0; in.size > 0 && calls < 400; calls++) {
        switch (next(&in) % 16) {
        case 0:
        case 1: rank(&in, t); break;
        case 2:
        case 3: ask(&in, t); break;
        case 4: bill(&in); break;
        case 5: priority(&in); break;
        case 6: tickets(&in, t); break;
        default: change(&in, t);
        }
    }
    fl_tree_free(t);
    return 0;
}
