#include "exec/launcher/job_groups.h"

#include <dirent.h>
#include <string.h>

#include "base/number.h"

/* The group of version 2 comes first: with oom.group the kernel ends all processes of a job, and not one of them. */
static void prepare_memory(const struct cgroup_parent *parents, const struct launch *launch,
                           const struct process_identity *identity, struct job_groups *out)
{
    if (launch->mem_limit_kib == 0) return;
    if (parents->has_memory && cgroup_set_memory_limit(&identity->cgroup, launch->mem_limit_kib)) {
        out->enforces_memory = true;
        return;
    }
    cgroup_set_memory_path(parents, launch->id, identity->key, &out->memory);
    cgroup_create(&out->memory);
    out->enforces_memory = cgroup_set_memory_limit(&out->memory, launch->mem_limit_kib);
    if (out->enforces_memory) return;
    (void)cgroup_remove(&out->memory);
    out->memory.path[0] = '\0';
}

static void prepare_cpus(const struct cgroup_parent *parents, const struct launch *launch,
                         const struct process_identity *identity, struct job_groups *out)
{
    if (launch->cpus.ranges.count == 0) return;
    if (parents->has_cpuset && cgroup_set_cpus(&identity->cgroup, &launch->cpus)) return;
    cgroup_set_cpuset_path(parents, launch->id, identity->key, &out->cpuset);
    cgroup_create(&out->cpuset);
    if (cgroup_set_cpus(&out->cpuset, &launch->cpus)) return;
    (void)cgroup_remove(&out->cpuset);
    out->cpuset.path[0] = '\0';
}

void job_groups_prepare(const struct cgroup_parent *parents, const struct launch *launch,
                        const struct process_identity *identity, struct job_groups *out)
{
    out->cpu.path[0] = out->freezer.path[0] = out->memory.path[0] = out->cpuset.path[0] = '\0';
    out->enforces_memory = false;
    prepare_memory(parents, launch, identity, out);
    prepare_cpus(parents, launch, identity, out);
}

enum kernel_kill job_groups_kernel_kill(const struct job_groups *groups, const struct process_identity *identity)
{
    const struct cgroup *group = cgroup_count_oom_kills(&groups->memory) > 0 ? &groups->memory : &identity->cgroup;
    if (cgroup_count_oom_kills(group) == 0) return KERNEL_KILL_NONE;
    return cgroup_has_met_limit(group) ? KERNEL_KILL_OWN_LIMIT : KERNEL_KILL_OTHERS;
}

void job_groups_find(const struct cgroup_parent *parents, uint64_t launch_id, const struct process_identity *identity,
                     struct job_groups *out)
{
    cgroup_set_cpu_path(parents, launch_id, identity->key, &out->cpu);
    cgroup_set_freezer_path(parents, launch_id, identity->key, &out->freezer);
    cgroup_set_memory_path(parents, launch_id, identity->key, &out->memory);
    cgroup_set_cpuset_path(parents, launch_id, identity->key, &out->cpuset);
    out->enforces_memory = false;
}

bool job_groups_remove(const struct job_groups *groups, const struct process_identity *identity)
{
    return cgroup_remove(&identity->cgroup) && cgroup_remove(&groups->cpu) && cgroup_remove(&groups->freezer) &&
           cgroup_remove(&groups->memory) && cgroup_remove(&groups->cpuset);
}

bool job_groups_remove_wait(const struct job_groups *groups, const struct process_identity *identity)
{
    return cgroup_remove_wait(&identity->cgroup) && cgroup_remove_wait(&groups->cpu) &&
           cgroup_remove_wait(&groups->freezer) && cgroup_remove_wait(&groups->memory) &&
           cgroup_remove_wait(&groups->cpuset);
}

static void list_below(const char *parent, struct str instance_id, struct job_group_ids *out)
{
    DIR *groups = parent[0] == '\0' ? NULL : opendir(parent);
    if (groups == NULL) return;
    for (struct dirent *entry; (entry = readdir(groups)) != NULL;) {
        uint64_t id;
        if (cgroup_parse_name(entry->d_name, instance_id, &id)) *array_add(&out->list) = id;
    }
    closedir(groups);
}

void job_groups_list(const struct cgroup_parent *parents, struct str instance_id, struct job_group_ids *out)
{
    list_below(parents->path, instance_id, out);
    list_below(parents->cpu_path, instance_id, out);
    list_below(parents->freezer_path, instance_id, out);
    list_below(parents->memory_path, instance_id, out);
    list_below(parents->cpuset_path, instance_id, out);
}

bool job_groups_remove_left(const struct cgroup_parent *parents, struct str instance_id, uint64_t launch_id)
{
    struct process_identity identity = {0};
    struct job_groups groups;
    memcpy(identity.key, instance_id.text, LAUNCH_KEY_SIZE / 2);
    cgroup_set_path(parents, launch_id, identity.key, &identity.cgroup);
    job_groups_find(parents, launch_id, &identity, &groups);
    return job_groups_remove(&groups, &identity);
}
