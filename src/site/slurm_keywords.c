#include "site/slurm_keywords.h"

#include <stddef.h>

const char slurm_keywords_of_file[] =
    "AccountingStorageBackupHost, AccountingStorageEnforce, AccountingStorageExternalHost, AccountingStorageHost, "
    "AccountingStorageParameters, AccountingStoragePass, AccountingStoragePort, AccountingStorageTRES, "
    "AccountingStorageType, AccountingStorageUser, AccountingStoreFlags, AcctGatherEnergyType, "
    "AcctGatherFilesystemType, AcctGatherInterconnectType, AcctGatherNodeFreq, AcctGatherProfileType, "
    "AllowSpecResourcesUsage, AuthAltParameters, AuthAltTypes, AuthInfo, AuthType, BackupAddr, BackupController, "
    "BatchStartTimeout, BcastExclude, BcastParameters, BurstBufferType, CertgenParameters, CertgenType, "
    "CertmgrParameters, CertmgrType, CheckpointType, CliFilterParameters, CliFilterPlugins, ClusterName, "
    "CommunicationParameters, CompleteWait, ControlAddr, ControlMachine, CoreSpecPlugin, CpuFreqDef, "
    "CpuFreqGovernors, CredType, DataParserParameters, DebugFlags, DefCPUPerGPU, DefMemPerCPU, DefMemPerGPU, "
    "DefMemPerNode, DependencyParameters, DisableRootJobs, EioTimeout, EnforcePartLimits, Epilog, EpilogMsgTime, "
    "EpilogSlurmctld, EpilogTimeout, ExtSensorsFreq, ExtSensorsType, FairShareDampeningFactor, FastSchedule, "
    "FederationParameters, FirstJobId, GetEnvTimeout, GpuFreqDef, GresTypes, GroupUpdateForce, GroupUpdateTime, "
    "HashPlugin, HealthCheckInterval, HealthCheckNodeState, HealthCheckProgram, HttpParserType, InactiveLimit, "
    "InteractiveStepOptions, JobAcctGatherFrequency, JobAcctGatherParams, JobAcctGatherType, JobCompHost, JobCompLoc, "
    "JobCompParams, JobCompPass, JobCompPassScript, JobCompPort, JobCompType, JobCompUser, JobContainerType, "
    "JobFileAppend, JobRequeue, JobSubmitPlugins, KeepAliveTime, KillOnBadExit, KillWait, LaunchParameters, "
    "LaunchType, Licenses, LogTimeFormat, MailDomain, MailProg, MaxArraySize, MaxBatchRequeue, MaxDBDMsgs, "
    "MaxJobCount, MaxJobId, MaxMemPerCPU, MaxMemPerNode, MaxNodeCount, MaxStepCount, MaxTasksPerNode, "
    "MCSParameters, MCSPlugin, MessageTimeout, MetricsAuthUsers, MetricsType, MinJobAge, MpiDefault, MpiParams, "
    "NamespaceType, NodeFeaturesPlugins, OverTimeLimit, PlugStackConfig, PluginDir, PowerParameters, PowerPlugin, "
    "PreemptExemptTime, PreemptMode, PreemptParameters, PreemptType, PrEpParameters, PrEpPlugins, "
    "PriorityCalcPeriod, PriorityDecayHalfLife, PriorityFavorSmall, PriorityFlags, PriorityMaxAge, "
    "PriorityParameters, PrioritySiteFactorParameters, PrioritySiteFactorPlugin, PriorityType, "
    "PriorityUsageResetPeriod, PriorityWeightAge, PriorityWeightAssoc, PriorityWeightFairshare, "
    "PriorityWeightJobSize, PriorityWeightPartition, PriorityWeightQOS, PriorityWeightTRES, PrivateData, "
    "ProctrackType, Prolog, PrologEpilogTimeout, PrologFlags, PrologSlurmctld, PrologTimeout, "
    "PropagatePrioProcess, PropagateResourceLimits, PropagateResourceLimitsExcept, RebootProgram, "
    "ReconfigFlags, RequeueExit, RequeueExitHold, ResumeFailProgram, ResumeProgram, ResumeRate, ResumeTimeout, "
    "ResvEpilog, ResvOverRun, ResvProlog, ReturnToService, RoutePlugin, SallocDefaultCommand, SbcastParameters, "
    "SchedulerParameters, SchedulerTimeSlice, SchedulerType, ScronParameters, SelectType, SelectTypeParameters, "
    "SlurmctldAddr, SlurmctldDebug, SlurmctldHost, SlurmctldLogFile, SlurmctldParameters, SlurmctldPidFile, "
    "SlurmctldPlugstack, SlurmctldPort, SlurmctldPrimaryOffProg, SlurmctldPrimaryOnProg, SlurmctldSyslogDebug, "
    "SlurmctldTimeout, SlurmdDebug, SlurmdLogFile, SlurmdParameters, SlurmdPidFile, SlurmdPort, SlurmdSpoolDir, "
    "SlurmdSyslogDebug, SlurmdTimeout, SlurmdUser, SlurmSchedLogFile, SlurmSchedLogLevel, SlurmUser, SrunEpilog, "
    "SrunPortRange, SrunProlog, StateSaveLocation, SuspendExcNodes, SuspendExcParts, SuspendExcStates, "
    "SuspendProgram, SuspendRate, SuspendTime, SuspendTimeout, SwitchParameters, SwitchType, TaskEpilog, "
    "TaskPlugin, TaskPluginParam, TaskProlog, TCPTimeout, TLSParameters, TLSType, TmpFS, TopologyParam, "
    "TopologyPlugin, TrackWCKey, TreeWidth, UnkillableStepProgram, UnkillableStepTimeout, UrlParserType, UsePAM, "
    "VSizeFactor, WaitTime, X11Parameters";

const char slurm_keywords_of_scheduler[] =
    "allow_zero_lic, assoc_limit_stop, batch_sched_delay, bb_array_stage_cnt, bf_allow_magnetic_slot, "
    "bf_busy_nodes, bf_continue, bf_hetjob_immediate, bf_hetjob_prio, bf_interval, bf_job_part_count_reserve, "
    "bf_licenses, bf_max_job_array_resv, bf_max_job_assoc, bf_max_job_part, bf_max_job_start, bf_max_job_test, "
    "bf_max_job_user, bf_max_job_user_part, bf_max_time, bf_min_age_reserve, bf_min_prio_reserve, "
    "bf_node_space_size, bf_one_resv_per_job, bf_resolution, bf_running_job_reserve, bf_topopt_enable, "
    "bf_topopt_iterations, bf_window, bf_window_linear, bf_yield_interval, bf_yield_rpc_cnt, bf_yield_sleep, "
    "build_queue_timeout, correspond_after_task_cnt, default_gbytes, default_queue_depth, defer, defer_batch, "
    "delay_boot, disable_hetjob_steps, disable_job_shrink, enable_hetjob_steps, enable_job_state_cache, "
    "enable_user_top, extra_constraints, Ignore_NUMA, ignore_prefer_validation, max_array_tasks, max_depend_depth, "
    "max_rpc_cnt, max_sched_time, max_script_size, max_submit_line_size, max_switch_wait, no_backup_scheduling, "
    "no_env_cache, nohold_on_prolog_fail, pack_serial_at_end, partition_job_depth, preempt_reorder_count, "
    "preempt_send_user_signal, preempt_strict_order, preempt_youngest_first, reduce_completing_frag, "
    "requeue_delay, requeue_setup_env_fail, salloc_wait_nodes, sbatch_wait_nodes, sched_interval, "
    "sched_max_job_start, sched_min_interval, spec_cores_first, step_retry_count, step_retry_time, time_min_as_soft_limit, "
    "whole_hetjob, whole_pack";

const char slurm_keywords_of_nodes[] =
    "NodeName, NodeAddr, NodeHostname, BcastAddr, Boards, CoreSpecCount, CoresPerSocket, CPUs, CpuSpecList, "
    "DefCPUPerGPU, Features, Feature, Gres, MemSpecLimit, Parameters, Port, Procs, RealMemory, Reason, RestrictedCoresPerGPU, "
    "Sockets, SocketsPerBoard, State, ThreadsPerCore, TmpDisk, Topology, Weight";

const char slurm_keywords_of_partitions[] =
    "PartitionName, AllocNodes, AllowAccounts, AllowGroups, AllowQos, Alternate, CpuBind, Default, DefaultTime, "
    "DefCpuPerGPU, DefMemPerCPU, DefMemPerGPU, DefMemPerNode, DenyAccounts, DenyQos, DisableRootJobs, "
    "ExclusiveTopo, ExclusiveUser, GraceTime, Hidden, JobDefaults, LLN, MaxCPUsPerNode, MaxCPUsPerSocket, "
    "MaxMemPerCPU, MaxMemPerNode, MaxNodes, MaxTime, MinNodes, Nodes, OverSubscribe, OverTimeLimit, "
    "PowerDownOnIdle, PreemptMode, Priority, PriorityJobFactor, PriorityTier, QOS, ReqResv, ResumeTimeout, RootOnly, "
    "SelectTypeParameters, Shared, State, SuspendTime, SuspendTimeout, Topology, TRESBillingWeights";

bool slurm_keywords_has(const char *names, struct str word)
{
    for (struct str rest = str(names); rest.text != NULL;) {
        if (str_equal_nocase(str_trim(str_cut(rest, ',', &rest)), word)) return true;
    }
    return false;
}

static const struct slurm_removed removed[] = {
    {.keyword = "PriorityFlags", .value = "TICKET_BASED", .since = "15.08", .advice = "leave it out"},
    {.keyword = "PriorityFlags",
     .value = "LEVEL_BASED",
     .since = "15.08",
     .advice = "leave it out: Fair Tree replaced it"},
    {.keyword = "PriorityType",
     .value = "priority/multifactor2",
     .since = "14.11",
     .advice = "write PriorityType=priority/multifactor"},
    {.keyword = "SelectType",
     .value = "select/cons_res",
     .since = "23.11",
     .advice = "write SelectType=select/cons_tres"},
    {.keyword = "SelectType",
     .value = "select/serial",
     .since = "20.02",
     .advice = "write SelectType=select/cons_tres"},
    {.keyword = "SchedulerParameters",
     .value = "assoc_limit_continue",
     .since = "16.05",
     .advice = "leave it out: it is the default, and assoc_limit_stop its opposite"},
    {.keyword = "FastSchedule", .since = "20.02", .advice = "leave it out"},
    {.keyword = "CheckpointType", .since = "20.02", .advice = "leave it out"},
    {.keyword = "ControlMachine", .since = "24.05", .advice = "write SlurmctldHost"},
    {.keyword = "ControlAddr", .since = "24.05", .advice = "write SlurmctldHost"},
    {.keyword = "BackupController", .since = "24.05", .advice = "write a second SlurmctldHost"},
    {.keyword = "BackupAddr", .since = "24.05", .advice = "write a second SlurmctldHost"},
    {.keyword = "CryptoType", .since = "19.05", .advice = "write CredType"},
    {.keyword = "LaunchType", .since = "23.11", .advice = "leave it out"},
    {.keyword = "KeepAliveTime", .since = "23.02", .advice = "write CommunicationParameters=keepalivetime=N"},
    {.keyword = "RoutePlugin", .since = "23.11", .advice = "write TopologyParam=RouteTree"},
    {.keyword = "AccountingStorageLoc", .since = "20.11", .advice = "leave it out"},
    {.keyword = "SchedulerPort", .since = "17.11", .advice = "leave it out"},
    {.keyword = "SchedulerRootFilter", .since = "17.11", .advice = "leave it out"},
    {.keyword = "CacheGroups", .since = "17.11", .advice = "leave it out"},
    {.keyword = "JobCheckpointDir", .since = "20.02", .advice = "leave it out"},
    {.keyword = "UseSpecResources", .since = "15.08", .advice = "write AllowSpecResourcesUsage"},
    {.keyword = "TraceBlocks", .since = "17.11", .advice = "leave it out"},
    {.keyword = "MemLimitEnforce", .since = "19.05", .advice = "write JobAcctGatherParams=OverMemoryKill"},
};

const struct slurm_removed *slurm_keywords_removed(struct str keyword, struct str value)
{
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++) {
        const struct slurm_removed *r = &removed[i];
        if (!str_equal_nocase(str(r->keyword), keyword)) continue;
        if (r->value == NULL || str_equal_nocase(str(r->value), value)) return r;
    }
    return NULL;
}
