/* The schema of fairlead.db. It is public: docs/schema.md explains every column, and `.schema` in sqlite3 shows the
 * comments below. To change it, append a step; never edit one that was released. The test of migrations runs all.
 *
 *     association 1 ──< job 1 ──< task           one row per start: for each attempt of a task
 *          │             └── 1 job_script >── content (scripts and environments, each distinct one stored once)
 *          └──< usage_journal                    changes of the rules of usage
 *     partition, qos, user_policy, project, department, resource,
 *     host, host_group, pe                       objects that administrators define
 *     owner_usage                                usage of users and projects, for the share tree of the tickets model
 *     suspension                                 times in which tasks were suspended, by launch_id
 *     min_priority                               minimum priorities of pending jobs, with INCR_ONLY
 *     setting, counters, clock_event             the latter: times at which the machine's clock was set
 *     audit                                      changes by administrators
 *     pruned_usage                               sums of tasks that were removed
 *
 * Invariants
 *   1. PRAGMA user_version is the number of applied steps; application_id is Fairlead's from the first step on. Both
 *      are set in the transaction that creates the tables, so a file either is new (it has no tables) or has all.
 *   2. Times are microseconds since the epoch (_us), and NULL while they are in the future; durations are seconds (_s).
 *      If the machine's clock is set, all times are shifted (clock.c), so a new column that is a time has a row there.
 *   3. States are words. end_us is set exactly in the ended states.
 *   4. Partial indexes find the rows that have not ended, so the cost of a start depends on live rows only. The other
 *      indexes let every listing (job_reader_sql.c) read its rows in order, without sorting.
 *   5. Rows of associations are never removed, because old jobs refer to them; deleted_us is the time of the deletion.
 *   6. Jobs and tasks store the names of partitions, QOS, projects and resources, not their ids. So these rows can be
 *      removed, and the history still shows the names. The column of a field is named after the field (objects.c).
 * Foreign keys are checked at COMMIT (deferred), so one turn may write a child before its parent. */
#include "store/schema.h"

#include "base/ensure.h"
#include "base/text.h"
#include "store/sql.h"

/* Without REFERENCES, SQLite deletes all rows of a table in one step. */
static const char step_2[] =
    "CREATE TABLE priority_floor(           -- minimum priorities of pending jobs, with PriorityFlags=INCR_ONLY\n"
    "  job_id INTEGER NOT NULL, partition TEXT NOT NULL,\n"
    "  priority INTEGER NOT NULL CHECK (priority BETWEEN 1 AND 4294967295), -- the job's minimum in this partition\n"
    "  PRIMARY KEY (job_id, partition)\n"
    ") STRICT, WITHOUT ROWID;\n";

/* Usage can be reset, and the journal has the decay rules of owners' usage. Their rules from before this step are
 * unknown; from the last commit on it is the rule of the settings. */
static const char step_3[] =
    "ALTER TABLE association ADD COLUMN reset_us INTEGER; -- its usage counts from here on; NULL: never reset\n"
    "ALTER TABLE qos ADD COLUMN reset_us INTEGER;\n"
    "ALTER TABLE owner_usage ADD COLUMN reset_us INTEGER;\n"
    "ALTER TABLE counters ADD COLUMN usage_reset_us INTEGER; -- all usage counts from here on; NULL: never reset\n"
    "ALTER TABLE counters ADD COLUMN reset_period_us INTEGER; -- boundaries of PriorityUsageResetPeriod count from here on\n"

    "CREATE TABLE journal_2(\n"
    "  seq INTEGER PRIMARY KEY,\n"
    "  at_us INTEGER NOT NULL,\n"
    "  kind TEXT NOT NULL CHECK (kind IN ('HALFLIFE', 'SHARES', 'FOLD', 'LATE', 'QOS_DECAY', 'OWNER_RULE', 'RESET')),\n"
    "  association_id INTEGER REFERENCES association(id) DEFERRABLE INITIALLY DEFERRED, -- or NULL\n"
    "  before INTEGER NOT NULL, after INTEGER NOT NULL, -- by kind: docs/schema.md\n"
    "  detail TEXT                         -- OWNER_RULE: the rule; RESET: its subject, unless it is an association\n"
    ") STRICT;\n"
    "INSERT INTO journal_2 SELECT seq, at_us, kind, association_id, before, after, NULL FROM journal;\n"
    "DROP TABLE journal;\n"
    "ALTER TABLE journal_2 RENAME TO journal;\n"

    "INSERT INTO journal(at_us, kind, before, after, detail)\n"
    "  SELECT last_commit_us, 'OWNER_RULE', 0, 0,\n"
    "    'halftime=' || ifnull((SELECT value FROM setting WHERE name = 'halftime'), '168') ||\n"
    "    ' halftime_rule=' || ifnull((SELECT value FROM setting WHERE name = 'halftime_rule'), 'program') ||\n"
    "    ' halflife_decay_list=' || ifnull((SELECT value FROM setting WHERE name = 'halflife_decay_list'), 'none')\n"
    "  FROM counters;\n";

/* Clearer names (usage_journal, min_priority, slots_max), comments of jobs, and the latest time that an ISO date can
 * say. */
static const char step_4[] =
    "ALTER TABLE journal RENAME TO usage_journal;\n"
    "ALTER TABLE priority_floor RENAME TO min_priority;\n"
    "ALTER TABLE job RENAME COLUMN slots_most TO slots_max;\n"
    "ALTER TABLE job ADD COLUMN comment TEXT; -- a note by the job's user; NULL: none\n"
    "ALTER TABLE job ADD COLUMN admin_comment TEXT; -- a note by an operator; NULL: none\n"
    "UPDATE job SET begin_us = 253402300799000000 WHERE begin_us > 253402300799000000;\n"
    "UPDATE job SET deadline_us = 253402300799000000 WHERE deadline_us > 253402300799000000;\n";

/* The order of the scheduler's list, and measured usage. An older database goes on to count reserved usage, because its
 * running tasks were not measured; a new one has no row in counters yet. */
static const char step_5[] =
    "ALTER TABLE job ADD COLUMN list_position INTEGER; -- in the scheduler's list; NULL: before all others, by submission\n"
    "ALTER TABLE task ADD COLUMN mem_gib_s REAL; -- memory in use x time\n"
    "ALTER TABLE task ADD COLUMN io_bytes INTEGER; -- read from and written to storage\n"
    "ALTER TABLE task ADD COLUMN measured_us INTEGER; -- when its usage was last measured; NULL: not yet\n"
    "ALTER TABLE task ADD COLUMN mem_kib INTEGER; -- memory in use at measured_us\n"
    "ALTER TABLE task ADD COLUMN measured_from_us INTEGER; -- its measured usage counts from here on; NULL: all of it\n"
    "ALTER TABLE task ADD COLUMN charged_cpu_s REAL; -- its part of owner_usage.cpu_s, as of charged_as_of_us\n"
    "ALTER TABLE task ADD COLUMN charged_mem_gib_s REAL;\n"
    "ALTER TABLE task ADD COLUMN charged_io_gib REAL;\n"
    "ALTER TABLE task ADD COLUMN charged_as_of_us INTEGER;\n"
    "INSERT OR IGNORE INTO setting SELECT 'SHARETREE_RESERVED_USAGE', 'true' FROM counters;\n";

/* Hosts, groups of hosts and parallel environments; partitions become queues on hosts. */
static const char step_6[] =
    "CREATE TABLE host(                     -- a machine that runs jobs\n"
    "  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_us INTEGER NOT NULL,\n"
    "  cpus INTEGER, mem_mib INTEGER,      -- NULL: what the machine has\n"
    "  complex_values TEXT NOT NULL,       -- 'gpu=4,arch=lx-amd64'; NONE: none\n"
    "  load_scaling TEXT NOT NULL,         -- factors of load values, 'np_load_avg=0.5'\n"
    "  state TEXT NOT NULL                 -- UP, DRAIN or DOWN\n"
    ") STRICT;\n"
    "INSERT INTO host SELECT 1, 'localhost', created_us, NULL, NULL, 'NONE', 'NONE', 'UP' FROM association WHERE id = 1;\n"
    "CREATE TABLE host_group(\n"
    "  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_us INTEGER NOT NULL,\n"
    "  hosts TEXT NOT NULL                 -- 'n1,n2,@other'\n"
    ") STRICT;\n"
    "CREATE TABLE pe(                       -- parallel environments\n"
    "  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_us INTEGER NOT NULL,\n"
    "  slots INTEGER,                      -- NULL: unlimited\n"
    "  allocation_rule TEXT NOT NULL       -- $pe_slots, $fill_up, $round_robin or a number\n"
    ") STRICT;\n"
    "ALTER TABLE partition ADD COLUMN hosts TEXT NOT NULL DEFAULT ''; -- 'n1,@big'; '': all hosts\n"
    "ALTER TABLE partition ADD COLUMN slots TEXT NOT NULL DEFAULT 'AUTO'; -- on each host, '4,[n1=2]'; AUTO: its CPUs\n"
    "ALTER TABLE partition ADD COLUMN seq_no TEXT NOT NULL DEFAULT '0';\n"
    "ALTER TABLE partition ADD COLUMN load_thresholds TEXT NOT NULL DEFAULT 'NONE';\n"
    "ALTER TABLE partition ADD COLUMN pe_list TEXT NOT NULL DEFAULT 'NONE'; -- parallel environments\n"
    "ALTER TABLE partition ADD COLUMN complex_values TEXT NOT NULL DEFAULT 'NONE';\n"
    "ALTER TABLE partition ADD COLUMN user_lists TEXT NOT NULL DEFAULT 'NONE'; -- accepted: 'ann,@chem'; NONE: all\n"
    "ALTER TABLE partition ADD COLUMN xuser_lists TEXT NOT NULL DEFAULT 'NONE'; -- refused\n"
    "ALTER TABLE partition ADD COLUMN state TEXT NOT NULL DEFAULT 'UP'; -- of the queue on each host, 'UP,[n1=DRAIN]'\n"
    "ALTER TABLE job ADD COLUMN pe TEXT; -- its parallel environment; NULL: none\n"
    "ALTER TABLE job ADD COLUMN is_reserving INTEGER; -- 1: it asks for a reservation; NULL: no\n"
    "ALTER TABLE task ADD COLUMN hosts TEXT NOT NULL DEFAULT 'localhost'; -- 'n1,n2'; cpus and gpus are '0-3;0-1'\n"
    "ALTER TABLE task ADD COLUMN host_mem_mib TEXT; -- on each of several hosts, '4096;2048'; NULL: one host\n"
    "ALTER TABLE resource ADD COLUMN relop TEXT NOT NULL DEFAULT '<=';\n"
    "ALTER TABLE resource ADD COLUMN consumable TEXT NOT NULL DEFAULT 'YES'; -- YES: per slot; JOB: once; NO\n"
    "ALTER TABLE resource ADD COLUMN default_amount TEXT NOT NULL DEFAULT '0'; -- of jobs that do not request it\n";

/* What jobs ask of their places. */
static const char step_7[] =
    "ALTER TABLE job ADD COLUMN soft TEXT;          -- soft requests, 'mem_free=4G'; NULL: none\n"
    "ALTER TABLE job ADD COLUMN queues TEXT;        -- where it may run, 'all.q@n1,b.q'; NULL: in its partitions\n"
    "ALTER TABLE job ADD COLUMN master_queues TEXT; -- where its first slot may be; NULL: anywhere\n"
    "ALTER TABLE job ADD COLUMN soft_queues TEXT;   -- where it would rather run; NULL: no matter where\n"
    "ALTER TABLE job ADD COLUMN nodes TEXT;         -- its number of hosts, '2' or '2-4'; NULL: not given\n"
    "ALTER TABLE job ADD COLUMN slots_per_node INTEGER; -- on each of them; NULL: any number\n"
    "ALTER TABLE job ADD COLUMN mem_per_cpu_mib INTEGER; -- mem_mib is that of all CPUs then; NULL: not given\n"
    "ALTER TABLE job ADD COLUMN gpus_per_slot INTEGER; -- likewise\n"
    "ALTER TABLE job ADD COLUMN constraint_text TEXT; -- features of its hosts, 'avx&ssd'; NULL: any\n"
    "ALTER TABLE host ADD COLUMN features TEXT NOT NULL DEFAULT 'NONE'; -- 'avx,ssd'\n";

/* Calendars of queues. */
static const char step_8[] =
    "CREATE TABLE calendar(\n"
    "  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_us INTEGER NOT NULL,\n"
    "  year TEXT NOT NULL,                 -- closed days of the year, '24.12.-26.12.=12-18=off'\n"
    "  week TEXT NOT NULL                  -- closed days of the week, 'mon-fri=6-20=off'\n"
    ") STRICT;\n"
    "ALTER TABLE partition ADD COLUMN calendar TEXT NOT NULL DEFAULT 'NONE'; -- that closes it\n";

/* Limits. */
static const char step_9[] =
    "ALTER TABLE association ADD COLUMN grp_jobs INTEGER; -- limits: NULL: none; of TRES: those that are limited, 'cpu=64,mem=1024'\n"
    "ALTER TABLE association ADD COLUMN grp_submit_jobs INTEGER;\n"
    "ALTER TABLE association ADD COLUMN grp_wall_s INTEGER;\n"
    "ALTER TABLE association ADD COLUMN grp_tres TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE association ADD COLUMN grp_tres_mins TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE association ADD COLUMN grp_tres_run_mins TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE association ADD COLUMN max_jobs INTEGER;\n"
    "ALTER TABLE association ADD COLUMN max_submit_jobs INTEGER;\n"
    "ALTER TABLE association ADD COLUMN max_wall_s INTEGER;\n"
    "ALTER TABLE association ADD COLUMN max_tres TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE association ADD COLUMN max_tres_per_node TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE association ADD COLUMN max_tres_mins TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE association ADD COLUMN qos_level TEXT NOT NULL DEFAULT ''; -- QOS that its jobs may have, 'normal,long'; '': those of its parent, of root all\n"
    "ALTER TABLE association ADD COLUMN default_qos TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE qos ADD COLUMN grp_jobs INTEGER; -- limits: NULL: none; of TRES: those that are limited, 'cpu=64,mem=1024'\n"
    "ALTER TABLE qos ADD COLUMN grp_submit_jobs INTEGER;\n"
    "ALTER TABLE qos ADD COLUMN grp_wall_s INTEGER;\n"
    "ALTER TABLE qos ADD COLUMN grp_tres TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE qos ADD COLUMN grp_tres_mins TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE qos ADD COLUMN grp_tres_run_mins TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE qos ADD COLUMN max_jobs_per_user INTEGER;\n"
    "ALTER TABLE qos ADD COLUMN max_jobs_per_account INTEGER;\n"
    "ALTER TABLE qos ADD COLUMN max_submit_jobs_per_user INTEGER;\n"
    "ALTER TABLE qos ADD COLUMN max_submit_jobs_per_account INTEGER;\n"
    "ALTER TABLE qos ADD COLUMN max_wall_s INTEGER;\n"
    "ALTER TABLE qos ADD COLUMN max_tres TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE qos ADD COLUMN max_tres_per_node TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE qos ADD COLUMN max_tres_per_user TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE qos ADD COLUMN max_tres_per_account TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE qos ADD COLUMN max_tres_mins TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE qos ADD COLUMN min_tres TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE job ADD COLUMN is_time_exempt INTEGER; -- 1: an operator has set its time limit, so MaxWall does not count\n"
    "ALTER TABLE task ADD COLUMN is_over_limit INTEGER; -- 1: it ends because a limit of usage is reached\n"
    "ALTER TABLE partition ADD COLUMN qos TEXT NOT NULL DEFAULT ''; -- QOS whose limits its jobs have, too; '': none\n";

/* Jobs that depend on others, and their attempts: the rows of a task that was requeued have the number of theirs. */
static const char step_10[] =
    "ALTER TABLE job ADD COLUMN dependency TEXT; -- what it waits for, 'afterok:5,singleton'; NULL: nothing\n"
    "ALTER TABLE job ADD COLUMN held_by_operator INTEGER; -- 1: only an operator may release it; NULL: no\n"
    "ALTER TABLE job ADD COLUMN requeue INTEGER; -- 1: it starts again if its host or keeper fails; NULL: no\n"
    "ALTER TABLE job ADD COLUMN requeue_exit TEXT; -- exit statuses with which it starts again, '99,75-78'; NULL: none\n"
    "ALTER TABLE job ADD COLUMN max_requeue INTEGER; -- how often by itself; NULL: as max_batch_requeue says\n"
    "ALTER TABLE job ADD COLUMN restarted_tasks TEXT; -- tasks requeued at least once; twice ..., '3-7;5'; NULL: none\n"
    "DROP VIEW queue;\n"
    "DROP VIEW history;\n"
    "CREATE TABLE attempt(\n"
    "  job_id INTEGER NOT NULL REFERENCES job(id) DEFERRABLE INITIALLY DEFERRED,\n"
    "  task_id INTEGER NOT NULL,           -- 0 unless the job is an array\n"
    "  association_id INTEGER NOT NULL,    -- its job's\n"
    "  state TEXT NOT NULL,                -- REQUEUED: the next attempt has another row\n"
    "  is_cancelled INTEGER NOT NULL CHECK (is_cancelled IN (0, 1)), -- its cancellation was requested\n"
    "  launch_id INTEGER NOT NULL,         -- the launcher's number for this start\n"
    "  boot_id TEXT NOT NULL,              -- the boot of the machine in which it was launched\n"
    "  launch_us INTEGER NOT NULL,         -- when its start was decided\n"
    "  start_us INTEGER,                   -- NULL: not yet, or never ran\n"
    "  charged_us INTEGER,                 -- its association is charged up to here\n"
    "  end_us INTEGER,\n"
    "  partition TEXT NOT NULL,\n"
    "  billing REAL NOT NULL,              -- units per second, by the weights of its partition\n"
    "  usage_factor REAL NOT NULL,         -- of its QOS; the charge per second is billing times this\n"
    "  tres TEXT NOT NULL,                 -- its allocation as usage counts it, 'cpu=4,mem=8192'\n"
    "  cpus TEXT NOT NULL, gpus TEXT NOT NULL, mem_mib INTEGER NOT NULL, -- allocated; numbers of CPUs and GPUs, '0-3;0-1'\n"
    "  exit_status INTEGER NOT NULL, signal INTEGER NOT NULL,\n"
    "  cpu_us INTEGER NOT NULL,            -- CPU time of all its processes\n"
    "  max_rss_kib INTEGER NOT NULL,\n"
    "  detail TEXT NOT NULL,               -- why it failed, if that is known\n"
    "  mem_gib_s REAL,                     -- memory in use x time\n"
    "  io_bytes INTEGER,                   -- read from and written to storage\n"
    "  measured_us INTEGER,                -- when its usage was last measured; NULL: not yet\n"
    "  mem_kib INTEGER,                    -- memory in use at measured_us\n"
    "  measured_from_us INTEGER,           -- its measured usage counts from here on; NULL: all of it\n"
    "  charged_cpu_s REAL,                 -- its part of owner_usage.cpu_s, as of charged_as_of_us\n"
    "  charged_mem_gib_s REAL, charged_io_gib REAL, charged_as_of_us INTEGER,\n"
    "  hosts TEXT NOT NULL DEFAULT 'localhost', -- 'n1,n2'\n"
    "  host_mem_mib TEXT,                  -- on each of several hosts, '4096;2048'; NULL: one host\n"
    "  is_over_limit INTEGER,              -- 1: it ends because GrpTRESMins or GrpWall is reached; NULL: no\n"
    "  restarts INTEGER NOT NULL DEFAULT 0, -- how often it was requeued before this attempt\n"
    "  requeue INTEGER,                    -- its end was requested so that it starts again: 1, held 2, by an operator 3\n"
    "  PRIMARY KEY (job_id, task_id, restarts),\n"
    "  CHECK (CASE WHEN end_us IS NULL THEN state IN ('STARTING', 'RUNNING', 'COMPLETING')\n"
    "         ELSE state IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT', 'NODE_FAIL', 'REQUEUED') END)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "INSERT INTO attempt SELECT *, 0, NULL FROM task;\n"
    "DROP TABLE task;\n"
    "ALTER TABLE attempt RENAME TO task;\n"
    "CREATE INDEX task_live ON task(job_id, task_id) WHERE end_us IS NULL;\n"
    "CREATE INDEX task_ended_time ON task(end_us) WHERE end_us IS NOT NULL;\n"
    "CREATE INDEX task_ended_state ON task(state, end_us) WHERE end_us IS NOT NULL;\n"
    "CREATE INDEX task_ended_association ON task(association_id, end_us) WHERE end_us IS NOT NULL;\n"
    "CREATE VIEW queue AS\n"
    "  SELECT iif(array_tasks IS NULL, CAST(job_id AS TEXT), job_id || '_' || task_id) AS job, state, account, user, name,\n"
    "    partition, qos, project, job.cpus, job.mem_mib, job.gpus, time_limit_s, datetime(submit_us / 1000000, 'unixepoch') AS submitted_utc,\n"
    "    datetime(start_us / 1000000, 'unixepoch') AS started_utc, job_id\n"
    "  FROM task JOIN job ON job.id = job_id JOIN association ON association.id = job.association_id\n"
    "  WHERE end_us IS NULL\n"
    "  UNION ALL\n"
    "  SELECT iif(array_tasks IS NULL, CAST(job.id AS TEXT), job.id || '_[' || pending_tasks || ']'),\n"
    "    iif(is_held, 'HELD', 'PENDING'), account, user, name, partitions, qos, project, cpus, mem_mib, gpus, time_limit_s,\n"
    "    datetime(submit_us / 1000000, 'unixepoch'), NULL, job.id\n"
    "  FROM job JOIN association ON association.id = association_id\n"
    "  WHERE ended_us IS NULL AND pending_tasks <> '';\n"

    "CREATE VIEW history AS\n"
    "  SELECT iif(array_tasks IS NULL, CAST(job_id AS TEXT), job_id || '_' || task_id) AS job, state, account, user, name,\n"
    "    partition, qos, project, job.cpus, job.mem_mib, job.gpus, datetime(submit_us / 1000000, 'unixepoch') AS submitted_utc,\n"
    "    datetime(start_us / 1000000, 'unixepoch') AS started_utc, datetime(end_us / 1000000, 'unixepoch') AS ended_utc,\n"
    "    (start_us - submit_us) / 1e6 AS wait_s, (end_us - start_us) / 1e6 AS run_s, cpu_us / 1e6 AS cpu_s,\n"
    "    max_rss_kib / 1024.0 AS max_rss_mib, exit_status, signal, detail, job_id\n"
    "  FROM task JOIN job ON job.id = job_id JOIN association ON association.id = job.association_id\n"
    "  WHERE end_us IS NOT NULL\n"
    "  UNION ALL\n"
    "  SELECT iif(array_tasks IS NULL, CAST(job.id AS TEXT), job.id || '_[' || cancelled_tasks || ']'), 'CANCELLED', account,\n"
    "    user, name, partitions, qos, project, cpus, mem_mib, gpus, datetime(submit_us / 1000000, 'unixepoch'), NULL,\n"
    "    datetime(cancelled_us / 1000000, 'unixepoch'), NULL, NULL, NULL, NULL, NULL, NULL, '', job.id\n"
    "  FROM job JOIN association ON association.id = association_id\n"
    "  WHERE cancelled_us IS NOT NULL;\n";

/* Usage that limits count. What an older database charged was not charged as time or to the TRES of QOS. */
static const char step_11[] =
    "ALTER TABLE association ADD COLUMN usage_wall_s REAL NOT NULL DEFAULT 0; -- its jobs' time, as usage_billing_s\n"
    "ALTER TABLE qos ADD COLUMN usage_wall_s REAL NOT NULL DEFAULT 0;\n"
    "ALTER TABLE qos ADD COLUMN usage_tres TEXT; -- as association.usage_tres\n"
    "ALTER TABLE task ADD COLUMN partition_qos TEXT; -- the QOS of its partition at its start; NULL: none but its job's\n"
    "ALTER TABLE task ADD COLUMN limits_from_us INTEGER; -- usage_wall_s, qos.usage_tres count it from here on; NULL: all of it\n"
    "UPDATE task SET limits_from_us = max(ifnull(charged_us, 0), ifnull(end_us, 0)) WHERE start_us IS NOT NULL;\n";

/* Resource quota sets. */
static const char step_12[] =
    "CREATE TABLE quota(\n"
    "  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_us INTEGER NOT NULL,\n"
    "  description TEXT NOT NULL,\n"
    "  enabled INTEGER NOT NULL,           -- 1: its rules count\n"
    "  rules TEXT NOT NULL                 -- 'limit users {*} to slots=4; limit hosts n1 to license=2'\n"
    ") STRICT;\n";

/* What a pretend executor draws from the time limit does not change with it. */
static const char step_13[] =
    "ALTER TABLE task ADD COLUMN launch_limit_s INTEGER; -- the time limit that it was launched with; NULL: not known\n";

/* Associations of one partition. */
static const char step_14[] =
    "ALTER TABLE association ADD COLUMN for_partition TEXT; -- of a user: only for jobs in it; NULL: for all partitions\n"
    "DROP INDEX association_name;\n"
    "CREATE UNIQUE INDEX association_name ON association(account, ifnull(user, ''), ifnull(for_partition, ''))\n"
    "  WHERE deleted_us IS NULL;\n";

/* Limits of partitions. Nothing started in a drained one; DOWN says so now, and DRAIN that it accepts no new jobs. */
static const char step_15[] =
    "ALTER TABLE partition ADD COLUMN default_time_s INTEGER; -- of jobs that give none; NULL: none\n"
    "ALTER TABLE partition ADD COLUMN min_nodes INTEGER NOT NULL DEFAULT 0; -- of a job\n"
    "ALTER TABLE partition ADD COLUMN max_nodes INTEGER; -- of a job; NULL: unlimited, also of the next two\n"
    "ALTER TABLE partition ADD COLUMN max_cpus_per_node INTEGER; -- of all its jobs on a host\n"
    "ALTER TABLE partition ADD COLUMN max_mem_per_node_mib INTEGER; -- of a job\n"
    "ALTER TABLE partition ADD COLUMN def_mem_per_cpu_mib INTEGER; -- of jobs that ask for none; NULL: none\n"
    "ALTER TABLE partition ADD COLUMN allow_accounts TEXT NOT NULL DEFAULT 'ALL'; -- 'physics,chem'\n"
    "ALTER TABLE partition ADD COLUMN deny_accounts TEXT NOT NULL DEFAULT 'NONE';\n"
    "ALTER TABLE partition ADD COLUMN allow_qos TEXT NOT NULL DEFAULT 'ALL';\n"
    "ALTER TABLE partition ADD COLUMN deny_qos TEXT NOT NULL DEFAULT 'NONE';\n"
    "UPDATE partition SET state = 'DOWN' || substr(ltrim(state), 6) WHERE upper(substr(ltrim(state), 1, 5)) = 'DRAIN';\n"
    "ALTER TABLE job ADD COLUMN has_default_time INTEGER; -- 1: while it waits, time_limit_s is that of its first partition\n";

/* A row for each condition of a job that waits for others, so that an end rewrites only the conditions about it. */
static const char step_16[] =
    "CREATE TABLE dependency(\n"
    "  job_id INTEGER NOT NULL REFERENCES job(id) DEFERRABLE INITIALLY DEFERRED, -- the job that waits\n"
    "  position INTEGER NOT NULL,          -- in the order of its conditions\n"
    "  condition TEXT NOT NULL,            -- 'afterok:5'\n"
    "  PRIMARY KEY (job_id, position)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "INSERT INTO dependency(job_id, position, condition) SELECT job.id, condition.key, condition.value FROM job,"
    " json_each('[\"' || replace(replace(replace(replace(dependency, ',after', '\",\"after'), ',singleton',"
    " '\",\"singleton'), '?after', '\",\"after'), '?singleton', '\",\"singleton') || '\"]') AS condition"
    " WHERE dependency IS NOT NULL;\n"
    "UPDATE job SET dependency = iif(instr(dependency, '?') > 0, '?', ',') WHERE dependency IS NOT NULL;\n"
    "ALTER TABLE job RENAME COLUMN dependency TO dependency_join;\n"
    "ALTER TABLE job ADD COLUMN cancelled_by_rule INTEGER; -- 1: by kill_invalid_depend; NULL: no\n"
    "ALTER TABLE job ADD COLUMN delayed_tasks TEXT; -- requeued tasks that wait, '1764000060:3-7;1764000120:5'; NULL: none\n";

/* JobRequeue says what a job has that was submitted without requeue; such a job can be requeued by request. */
static const char step_17[] =
    "ALTER TABLE job ADD COLUMN forbids_requeue INTEGER; -- 1: submitted with requeue=no, so not by request either\n";

/* Which instance the rows belong to, and which commit they are from. */
static const char step_18[] =
    "ALTER TABLE counters ADD COLUMN instance_id TEXT; -- 32 hex digits; NULL: of an older version, or pretend\n"
    "ALTER TABLE counters ADD COLUMN commit_number INTEGER NOT NULL DEFAULT 0; -- each commit has the next one\n"
    "ALTER TABLE counters ADD COLUMN log_count INTEGER NOT NULL DEFAULT 0; -- how often the write-ahead log was reset\n"
    "ALTER TABLE counters ADD COLUMN quarantined_us INTEGER; -- when the jobs that waited were held; NULL: never\n"
    "ALTER TABLE counters ADD COLUMN quarantine TEXT; -- why; NULL: never\n";

/* What is known of the machine's clocks. An older database does not say in which boot its last commit was. */
static const char step_19[] =
    "ALTER TABLE counters ADD COLUMN boot_id TEXT; -- the boot of the machine in which last_commit_us was; NULL: not known\n"
    "ALTER TABLE counters ADD COLUMN boot_us INTEGER; -- time since that boot at last_commit_us (CLOCK_BOOTTIME)\n"
    "ALTER TABLE counters ADD COLUMN gap_from_us INTEGER; -- the last commit before a gap that is not counted; NULL: none\n"
    "ALTER TABLE counters ADD COLUMN gap_s INTEGER; -- its length\n"
    "CREATE TABLE clock_event(              -- the machine's clock was set, or a gap was found\n"
    "  seq INTEGER PRIMARY KEY,\n"
    "  at_us INTEGER NOT NULL,             -- when it was noticed\n"
    "  kind TEXT NOT NULL CHECK (kind IN ('SET_RUNNING', 'SET_STOPPED', 'GAP', 'GAP_RESOLVED', 'GAP_COUNTED',\n"
    "    'GAP_DISCARDED')),\n"
    "  by_s INTEGER NOT NULL,              -- how far the clock was set, or the length of the gap\n"
    "  shift_s INTEGER NOT NULL            -- what was added to all times\n"
    ") STRICT;\n";

/* What every job without a time limit of its own has, also in one partition. Of older rows only some say it. */
static const char step_20[] =
    "ALTER TABLE job ADD COLUMN lacks_time_limit INTEGER; -- 1: none was given; NULL: one was\n"
    "UPDATE job SET lacks_time_limit = has_default_time;\n";

/* What administrators change. */
static const char step_21[] =
    "CREATE TABLE audit(                    -- administrative changes: one row for each value that changed\n"
    "  seq INTEGER PRIMARY KEY,\n"
    "  at_us INTEGER NOT NULL,\n"
    "  uid INTEGER NOT NULL,               -- who made the change, as the kernel reported it\n"
    "  user TEXT,                          -- the user's name at that time; NULL: it had none\n"
    "  command TEXT NOT NULL,              -- 'partition modify'\n"
    "  name TEXT NOT NULL,                 -- of what was changed\n"
    "  field TEXT,                         -- NULL: the whole\n"
    "  before TEXT, after TEXT             -- NULL: there was, or is, no value\n"
    ") STRICT;\n"
    "CREATE INDEX audit_time ON audit(at_us);\n"
    "CREATE INDEX audit_user ON audit(user, seq);\n";

/* Ended jobs can be removed, and what they used stays known. */
static const char step_22[] =
    "CREATE TABLE pruned_usage(             -- what removed tasks were charged to; see usage_records.c\n"
    "  scope TEXT NOT NULL CHECK (scope IN ('association', 'qos', 'owner', 'project')),\n"
    "  row_id INTEGER NOT NULL,            -- of the association or QOS; 0 for the other two\n"
    "  user TEXT NOT NULL, project TEXT NOT NULL, -- of an owner, or a user's part of a project; '' for the first two\n"
    "  resource TEXT NOT NULL,             -- 'billing', 'wall', a TRES; of owners 'cpu', 'mem', 'io', 'finished_jobs'\n"
    "  amount REAL NOT NULL, halvings REAL NOT NULL, -- as of at_us it is amount * 2^halvings\n"
    "  at_us INTEGER NOT NULL,\n"
    "  PRIMARY KEY (scope, row_id, user, project, resource)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "ALTER TABLE counters ADD COLUMN pruned_jobs INTEGER NOT NULL DEFAULT 0; -- removed from the history\n"
    "ALTER TABLE counters ADD COLUMN pruned_tasks INTEGER NOT NULL DEFAULT 0; -- their starts\n"
    "CREATE INDEX job_ended ON job(ended_us) WHERE ended_us IS NOT NULL;\n"
    "CREATE INDEX job_script_script ON job_script(script_id);\n"
    "CREATE INDEX job_script_environment ON job_script(environment_id);\n";

/* A uid keeps its rows when its name changes. */
static const char step_23[] =
    "ALTER TABLE counters ADD COLUMN served_uid INTEGER; -- of a private instance: the user that it serves; NULL: not known\n"
    "ALTER TABLE counters ADD COLUMN served_user TEXT; -- the name that the uid had at the last start\n";

/* A change of all usages at once writes its factor; the rows follow. Of an ended array that is requeued, the tasks that
 * failed are found without reading all of them. */
static const char step_24[] =
    "CREATE TABLE usage_conversion(         -- changes of all usages that some rows still lack\n"
    "  number INTEGER PRIMARY KEY,\n"
    "  is_reset INTEGER NOT NULL,          -- 1: usage became 0; 0: it was multiplied by scale * 2^-halvings\n"
    "  halvings INTEGER NOT NULL, scale REAL NOT NULL\n"
    ") STRICT;\n"
    "ALTER TABLE counters ADD COLUMN usage_conversion INTEGER NOT NULL DEFAULT 0; -- the number of the last one\n"
    "ALTER TABLE association ADD COLUMN usage_conversion INTEGER NOT NULL DEFAULT 0; -- the last one its usages had\n"
    "ALTER TABLE owner_usage ADD COLUMN usage_conversion INTEGER NOT NULL DEFAULT 0; -- likewise; only resets count\n"
    "CREATE INDEX task_failed ON task(job_id, task_id)\n"
    "  WHERE end_us IS NOT NULL AND state NOT IN ('COMPLETED', 'REQUEUED');\n";

/* What a quarantine holds is told apart from what people hold, a pretend cluster's rows from real ones, and what a
 * start found missing stays known. */
static const char step_25[] =
    "ALTER TABLE job ADD COLUMN quarantine INTEGER; -- 1: held by a quarantine; 2: and before by its user; 3: by an operator; NULL: no\n"
    "UPDATE job SET quarantine = 1 WHERE ended_us IS NULL AND is_held = 1 AND held_by_operator = 1"
    " AND submit_us <= (SELECT quarantined_us FROM counters);\n"
    "ALTER TABLE counters ADD COLUMN is_pretend INTEGER; -- 1: of a cluster that is not there; NULL: of a real instance\n"
    "UPDATE counters SET is_pretend = 1 WHERE instance_id IS NULL AND EXISTS(SELECT * FROM task WHERE boot_id = 'pretend');\n"
    "ALTER TABLE counters ADD COLUMN recovery TEXT; -- what the last start that found commits missing has found; NULL: none\n"
    "ALTER TABLE counters ADD COLUMN recovered_us INTEGER; -- when that was\n";
/* A job can end because it used too much memory. */
static const char step_26[] =
    "DROP VIEW queue;\n"
    "DROP VIEW history;\n"
    "CREATE TABLE attempt(\n"
    "  job_id INTEGER NOT NULL REFERENCES job(id) DEFERRABLE INITIALLY DEFERRED,\n"
    "  task_id INTEGER NOT NULL,           -- 0 unless the job is an array\n"
    "  association_id INTEGER NOT NULL,    -- its job's\n"
    "  state TEXT NOT NULL,                -- REQUEUED: the next attempt has another row\n"
    "  is_cancelled INTEGER NOT NULL CHECK (is_cancelled IN (0, 1)), -- its cancellation was requested\n"
    "  launch_id INTEGER NOT NULL,         -- the launcher's number for this start\n"
    "  boot_id TEXT NOT NULL,              -- the boot of the machine in which it was launched\n"
    "  launch_us INTEGER NOT NULL,         -- when its start was decided\n"
    "  start_us INTEGER,                   -- NULL: not yet, or never ran\n"
    "  charged_us INTEGER,                 -- its association is charged up to here\n"
    "  end_us INTEGER,\n"
    "  partition TEXT NOT NULL,\n"
    "  billing REAL NOT NULL,              -- units per second, by the weights of its partition\n"
    "  usage_factor REAL NOT NULL,         -- of its QOS; the charge per second is billing times this\n"
    "  tres TEXT NOT NULL,                 -- its allocation as usage counts it, 'cpu=4,mem=8192'\n"
    "  cpus TEXT NOT NULL, gpus TEXT NOT NULL, mem_mib INTEGER NOT NULL, -- allocated; numbers of CPUs and GPUs, '0-3;0-1'\n"
    "  exit_status INTEGER NOT NULL, signal INTEGER NOT NULL,\n"
    "  cpu_us INTEGER NOT NULL,            -- CPU time of all its processes\n"
    "  max_rss_kib INTEGER NOT NULL,\n"
    "  detail TEXT NOT NULL,               -- why it failed, if that is known\n"
    "  mem_gib_s REAL,                     -- memory in use x time\n"
    "  io_bytes INTEGER,                   -- read from and written to storage\n"
    "  measured_us INTEGER,                -- when its usage was last measured; NULL: not yet\n"
    "  mem_kib INTEGER,                    -- memory in use at measured_us\n"
    "  measured_from_us INTEGER,           -- its measured usage counts from here on; NULL: all of it\n"
    "  charged_cpu_s REAL,                 -- its part of owner_usage.cpu_s, as of charged_as_of_us\n"
    "  charged_mem_gib_s REAL, charged_io_gib REAL, charged_as_of_us INTEGER,\n"
    "  hosts TEXT NOT NULL DEFAULT 'localhost', -- 'n1,n2'\n"
    "  host_mem_mib TEXT,                  -- on each of several hosts, '4096;2048'; NULL: one host\n"
    "  is_over_limit INTEGER,              -- 1: it ends because GrpTRESMins or GrpWall is reached; NULL: no\n"
    "  restarts INTEGER NOT NULL DEFAULT 0, -- how often it was requeued before this attempt\n"
    "  requeue INTEGER,                    -- its end was requested so that it starts again: 1, held 2, by an operator 3\n"
    "  partition_qos TEXT,                 -- the QOS of its partition at its start; NULL: none but its job's\n"
    "  limits_from_us INTEGER,             -- usage_wall_s, qos.usage_tres count it from here on; NULL: all of it\n"
    "  launch_limit_s INTEGER,             -- the time limit that it was launched with; NULL: not known\n"
    "  PRIMARY KEY (job_id, task_id, restarts),\n"
    "  CHECK (CASE WHEN end_us IS NULL THEN state IN ('STARTING', 'RUNNING', 'COMPLETING')\n"
    "         ELSE state IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT', 'NODE_FAIL', 'OUT_OF_MEMORY', 'REQUEUED') END)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "INSERT INTO attempt SELECT * FROM task;\n"
    "DROP TABLE task;\n"
    "ALTER TABLE attempt RENAME TO task;\n"
    "CREATE INDEX task_live ON task(job_id, task_id) WHERE end_us IS NULL;\n"
    "CREATE INDEX task_ended_time ON task(end_us) WHERE end_us IS NOT NULL;\n"
    "CREATE INDEX task_ended_state ON task(state, end_us) WHERE end_us IS NOT NULL;\n"
    "CREATE INDEX task_ended_association ON task(association_id, end_us) WHERE end_us IS NOT NULL;\n"
    "CREATE INDEX task_failed ON task(job_id, task_id)\n"
    "  WHERE end_us IS NOT NULL AND state NOT IN ('COMPLETED', 'REQUEUED');\n"
    "CREATE VIEW queue AS\n"
    "  SELECT iif(array_tasks IS NULL, CAST(job_id AS TEXT), job_id || '_' || task_id) AS job, state, account, user, name,\n"
    "    partition, qos, project, job.cpus, job.mem_mib, job.gpus, time_limit_s, datetime(submit_us / 1000000, 'unixepoch') AS submitted_utc,\n"
    "    datetime(start_us / 1000000, 'unixepoch') AS started_utc, job_id\n"
    "  FROM task JOIN job ON job.id = job_id JOIN association ON association.id = job.association_id\n"
    "  WHERE end_us IS NULL\n"
    "  UNION ALL\n"
    "  SELECT iif(array_tasks IS NULL, CAST(job.id AS TEXT), job.id || '_[' || pending_tasks || ']'),\n"
    "    iif(is_held, 'HELD', 'PENDING'), account, user, name, partitions, qos, project, cpus, mem_mib, gpus, time_limit_s,\n"
    "    datetime(submit_us / 1000000, 'unixepoch'), NULL, job.id\n"
    "  FROM job JOIN association ON association.id = association_id\n"
    "  WHERE ended_us IS NULL AND pending_tasks <> '';\n"

    "CREATE VIEW history AS\n"
    "  SELECT iif(array_tasks IS NULL, CAST(job_id AS TEXT), job_id || '_' || task_id) AS job, state, account, user, name,\n"
    "    partition, qos, project, job.cpus, job.mem_mib, job.gpus, datetime(submit_us / 1000000, 'unixepoch') AS submitted_utc,\n"
    "    datetime(start_us / 1000000, 'unixepoch') AS started_utc, datetime(end_us / 1000000, 'unixepoch') AS ended_utc,\n"
    "    (start_us - submit_us) / 1e6 AS wait_s, (end_us - start_us) / 1e6 AS run_s, cpu_us / 1e6 AS cpu_s,\n"
    "    max_rss_kib / 1024.0 AS max_rss_mib, exit_status, signal, detail, job_id\n"
    "  FROM task JOIN job ON job.id = job_id JOIN association ON association.id = job.association_id\n"
    "  WHERE end_us IS NOT NULL\n"
    "  UNION ALL\n"
    "  SELECT iif(array_tasks IS NULL, CAST(job.id AS TEXT), job.id || '_[' || cancelled_tasks || ']'), 'CANCELLED', account,\n"
    "    user, name, partitions, qos, project, cpus, mem_mib, gpus, datetime(submit_us / 1000000, 'unixepoch'), NULL,\n"
    "    datetime(cancelled_us / 1000000, 'unixepoch'), NULL, NULL, NULL, NULL, NULL, NULL, '', job.id\n"
    "  FROM job JOIN association ON association.id = association_id\n"
    "  WHERE cancelled_us IS NOT NULL;\n";

/* Which user a uid was the last time that it was looked up. */
static const char step_27[] =
    "CREATE TABLE known_user(               -- of a system instance: what the user database said of a uid\n"
    "  uid INTEGER PRIMARY KEY,\n"
    "  name TEXT NOT NULL, home TEXT NOT NULL,\n"
    "  is_removed INTEGER NOT NULL CHECK (is_removed IN (0, 1)) -- 1: there was no user with it any more\n"
    ") STRICT;\n";

/* Histories of private instances can be moved in (moved_jobs.c). */
static const char step_28[] =
    "ALTER TABLE job ADD COLUMN origin TEXT; -- 'INSTANCE/17': where it ran, and as which job; NULL: in this instance\n"
    "CREATE UNIQUE INDEX job_origin ON job(uid, origin) WHERE origin IS NOT NULL;\n"
    "CREATE TABLE moved_in(                 -- histories of other instances, one row for each user and instance\n"
    "  association_id INTEGER PRIMARY KEY REFERENCES association(id), -- of its jobs; a deleted one from the beginning\n"
    "  uid INTEGER NOT NULL,\n"
    "  instance_id TEXT NOT NULL,          -- 32 hex digits, as the user says\n"
    "  first_us INTEGER NOT NULL,          -- when the first job was moved in\n"
    "  pruned_us INTEGER,                  -- its jobs that ended up to here were removed; NULL: none was\n"
    "  row_count INTEGER NOT NULL          -- jobs and starts that were moved in, also removed ones\n"
    ") STRICT;\n"
    "CREATE INDEX moved_in_user ON moved_in(uid, instance_id);\n";

/* A requeue of an ended array takes several commits; a start finishes what a crash has broken off. */
static const char step_29[] =
    "ALTER TABLE job ADD COLUMN requeue_next INTEGER; -- the first task that the array's requeue has not come to; NULL: none\n"
    "CREATE INDEX job_requeue ON job(requeue_next) WHERE requeue_next IS NOT NULL;\n";

/* Limits of bytes count the scripts of waiting and running jobs. length() of a blob does not read it. */
static const char step_30[] =
    "ALTER TABLE job ADD COLUMN input_bytes INTEGER; -- of script, arguments and environment; NULL: none\n"
    "UPDATE job SET input_bytes = (SELECT length(script.bytes) + length(arguments) + length(environment.bytes)"
    " FROM job_script JOIN content AS script ON script.id = script_id"
    " JOIN content AS environment ON environment.id = environment_id WHERE job_id = job.id);\n";

/* Long scripts are stored by several commits, before that of their job (upload.c). */
static const char step_31[] =
    "ALTER TABLE content ADD COLUMN piece_count INTEGER NOT NULL DEFAULT 0; -- 0: all is in bytes; else bytes is empty\n"
    "CREATE TABLE content_piece(content_id INTEGER NOT NULL REFERENCES content(id), position INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (content_id, position)) STRICT; -- a long content\n"
    "CREATE TABLE loose_content(content_id INTEGER PRIMARY KEY REFERENCES content(id)) STRICT; -- no job has it\n"
    "ALTER TABLE job_script ADD COLUMN arguments_id INTEGER REFERENCES content(id); -- of long arguments\n"
    "CREATE INDEX job_script_arguments ON job_script(arguments_id) WHERE arguments_id IS NOT NULL;\n";

/* A job can be suspended. */
static const char step_32[] =
    "ALTER TABLE job ADD COLUMN warn_signal TEXT; DROP VIEW queue; DROP VIEW history; -- NULL: none\n"
    "CREATE TABLE attempt(\n"
    "  job_id INTEGER NOT NULL REFERENCES job(id) DEFERRABLE INITIALLY DEFERRED, task_id INTEGER NOT NULL,\n"
    "  association_id INTEGER NOT NULL, state TEXT NOT NULL, is_cancelled INTEGER NOT NULL CHECK (is_cancelled IN (0, 1)),\n"
    "  launch_id INTEGER NOT NULL, boot_id TEXT NOT NULL, launch_us INTEGER NOT NULL, start_us INTEGER, charged_us INTEGER,\n"
    "  end_us INTEGER, partition TEXT NOT NULL, billing REAL NOT NULL, usage_factor REAL NOT NULL, tres TEXT NOT NULL,\n"
    "  cpus TEXT NOT NULL, gpus TEXT NOT NULL, mem_mib INTEGER NOT NULL, exit_status INTEGER NOT NULL, signal INTEGER NOT NULL,\n"
    "  cpu_us INTEGER NOT NULL, max_rss_kib INTEGER NOT NULL, detail TEXT NOT NULL, mem_gib_s REAL, io_bytes INTEGER,\n"
    "  measured_us INTEGER, mem_kib INTEGER, measured_from_us INTEGER, charged_cpu_s REAL, charged_mem_gib_s REAL,\n"
    "  charged_io_gib REAL, charged_as_of_us INTEGER, hosts TEXT NOT NULL DEFAULT 'localhost', host_mem_mib TEXT,\n"
    "  is_over_limit INTEGER, restarts INTEGER NOT NULL DEFAULT 0, requeue INTEGER, partition_qos TEXT,\n"
    "  limits_from_us INTEGER, launch_limit_s INTEGER,\n"
    "  suspended_from_us INTEGER,          -- since when it is suspended; NULL: it is not\n"
    "  suspended_us INTEGER,               -- how long the suspensions before have lasted; NULL: 0\n"
    "  suspensions INTEGER,                -- their number, with that one: rows of the table suspension; NULL: 0\n"
    "  suspension_charged INTEGER, suspended_by_operator INTEGER, -- 1: the last one is, was; NULL: no\n"
    "  PRIMARY KEY (job_id, task_id, restarts),\n"
    "  CHECK (CASE WHEN end_us IS NULL THEN state IN ('STARTING', 'RUNNING', 'SUSPENDED', 'COMPLETING')\n"
    "         ELSE state IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT', 'NODE_FAIL', 'OUT_OF_MEMORY', 'REQUEUED') END)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "INSERT INTO attempt SELECT *, NULL, NULL, NULL, NULL, NULL FROM task;\n"
    "DROP TABLE task; ALTER TABLE attempt RENAME TO task;\n"
    "CREATE INDEX task_live ON task(job_id, task_id) WHERE end_us IS NULL;\n"
    "CREATE INDEX task_ended_time ON task(end_us) WHERE end_us IS NOT NULL;\n"
    "CREATE INDEX task_ended_state ON task(state, end_us) WHERE end_us IS NOT NULL;\n"
    "CREATE INDEX task_ended_association ON task(association_id, end_us) WHERE end_us IS NOT NULL;\n"
    "CREATE INDEX task_failed ON task(job_id, task_id)\n"
    "  WHERE end_us IS NOT NULL AND state NOT IN ('COMPLETED', 'REQUEUED');\n"
    "CREATE VIEW queue AS\n"
    "  SELECT iif(array_tasks IS NULL, CAST(job_id AS TEXT), job_id || '_' || task_id) AS job, state, account, user, name,\n"
    "    partition, qos, project, job.cpus, job.mem_mib, job.gpus, time_limit_s, datetime(submit_us / 1000000, 'unixepoch') AS submitted_utc,\n"
    "    datetime(start_us / 1000000, 'unixepoch') AS started_utc, job_id\n"
    "  FROM task JOIN job ON job.id = job_id JOIN association ON association.id = job.association_id\n"
    "  WHERE end_us IS NULL\n"
    "  UNION ALL\n"
    "  SELECT iif(array_tasks IS NULL, CAST(job.id AS TEXT), job.id || '_[' || pending_tasks || ']'),\n"
    "    iif(is_held, 'HELD', 'PENDING'), account, user, name, partitions, qos, project, cpus, mem_mib, gpus, time_limit_s,\n"
    "    datetime(submit_us / 1000000, 'unixepoch'), NULL, job.id\n"
    "  FROM job JOIN association ON association.id = association_id\n"
    "  WHERE ended_us IS NULL AND pending_tasks <> '';\n"
    "CREATE VIEW history AS\n"
    "  SELECT iif(array_tasks IS NULL, CAST(job_id AS TEXT), job_id || '_' || task_id) AS job, state, account, user, name,\n"
    "    partition, qos, project, job.cpus, job.mem_mib, job.gpus, datetime(submit_us / 1000000, 'unixepoch') AS submitted_utc,\n"
    "    datetime(start_us / 1000000, 'unixepoch') AS started_utc, datetime(end_us / 1000000, 'unixepoch') AS ended_utc,\n"
    "    (start_us - submit_us) / 1e6 AS wait_s, (end_us - start_us - ifnull(suspended_us, 0)) / 1e6 AS run_s, cpu_us / 1e6 AS cpu_s,\n"
    "    max_rss_kib / 1024.0 AS max_rss_mib, exit_status, signal, detail, job_id\n"
    "  FROM task JOIN job ON job.id = job_id JOIN association ON association.id = job.association_id\n"
    "  WHERE end_us IS NOT NULL\n"
    "  UNION ALL\n"
    "  SELECT iif(array_tasks IS NULL, CAST(job.id AS TEXT), job.id || '_[' || cancelled_tasks || ']'), 'CANCELLED', account,\n"
    "    user, name, partitions, qos, project, cpus, mem_mib, gpus, datetime(submit_us / 1000000, 'unixepoch'), NULL,\n"
    "    datetime(cancelled_us / 1000000, 'unixepoch'), NULL, NULL, NULL, NULL, NULL, NULL, '', job.id\n"
    "  FROM job JOIN association ON association.id = association_id\n"
    "  WHERE cancelled_us IS NOT NULL;\n"
    "CREATE TABLE suspension(               -- a time in which a task was suspended\n"
    "  launch_id INTEGER NOT NULL, number INTEGER NOT NULL, -- of the task; 1, 2, ...\n"
    "  from_us INTEGER NOT NULL, until_us INTEGER, -- NULL: it is not over\n"
    "  is_charged INTEGER NOT NULL CHECK (is_charged IN (0, 1)), -- whether the task is charged for it\n"
    "  PRIMARY KEY (launch_id, number)\n"
    ") STRICT, WITHOUT ROWID;\n";

/* Jobs can have whole hosts, and a time limit that is cut so that they are backfilled. */
static const char step_33[] =
    "ALTER TABLE job ADD COLUMN exclusive INTEGER; -- 1: it has whole hosts; NULL: no\n"
    "ALTER TABLE job ADD COLUMN time_min_s INTEGER; -- the shortest time limit that it may start with; NULL: time_limit_s\n"
    "ALTER TABLE job ADD COLUMN immediate_s INTEGER; -- it starts within so many seconds, or is cancelled; NULL: it waits\n"
    "ALTER TABLE job ADD COLUMN cancel_reason TEXT; -- why the instance cancelled it before it started; NULL: it did not\n"
    "ALTER TABLE task ADD COLUMN granted_time_s INTEGER; -- its own time limit, which was cut; NULL: its job's\n"
    "DROP VIEW queue;\n"
    "CREATE VIEW queue AS\n"
    "  SELECT iif(array_tasks IS NULL, CAST(job_id AS TEXT), job_id || '_' || task_id) AS job, state, account, user, name,\n"
    "    partition, qos, project, job.cpus, job.mem_mib, job.gpus,\n"
    "    min(time_limit_s, coalesce(granted_time_s, time_limit_s)) AS time_limit_s, datetime(submit_us / 1000000, 'unixepoch') AS submitted_utc,\n"
    "    datetime(start_us / 1000000, 'unixepoch') AS started_utc, job_id\n"
    "  FROM task JOIN job ON job.id = job_id JOIN association ON association.id = job.association_id\n"
    "  WHERE end_us IS NULL\n"
    "  UNION ALL\n"
    "  SELECT iif(array_tasks IS NULL, CAST(job.id AS TEXT), job.id || '_[' || pending_tasks || ']'),\n"
    "    iif(is_held, 'HELD', 'PENDING'), account, user, name, partitions, qos, project, cpus, mem_mib, gpus, time_limit_s,\n"
    "    datetime(submit_us / 1000000, 'unixepoch'), NULL, job.id\n"
    "  FROM job JOIN association ON association.id = association_id\n"
    "  WHERE ended_us IS NULL AND pending_tasks <> '';\n";

/* Jobs can start again after failures. */
static const char step_34[] =
    "ALTER TABLE job ADD COLUMN retry TEXT; -- the rule after failures, '3:exit=1,137:backoff=5m'; NULL: none\n";

/* A job can have a terminal. */
static const char step_35[] =
    "ALTER TABLE job ADD COLUMN terminal TEXT; -- pty or pipes, or with ,detach; NULL: none\n";

const char *const schema_steps[] = {
    schema_first, step_2,  step_3,  step_4,  step_5,  step_6,  step_7,  step_8,  step_9,  step_10, step_11, step_12,
    step_13,      step_14, step_15, step_16, step_17, step_18, step_19, step_20, step_21, step_22, step_23, step_24,
    step_25,      step_26, step_27, step_28, step_29, step_30, step_31, step_32, step_33, step_34, step_35};
const uint32_t schema_version = sizeof schema_steps / sizeof schema_steps[0];

int schema_identify(sqlite3 *db, uint32_t newest, uint32_t *out_version, struct err *e)
{
    const char *path = sqlite3_db_filename(db, "main");
    int64_t application = 0, version = 0, tables = 0;
    if (sql_number(db, "PRAGMA application_id", &application, e) != 0) return -1;
    if (sql_number(db, "PRAGMA user_version", &version, e) != 0) return -1;
    if (sql_number(db, "SELECT count(*) FROM sqlite_schema", &tables, e) != 0) return -1;
    if (application == 0 && version == 0 && tables == 0) {
        *out_version = 0;
        return 0;
    }
    if (application != SCHEMA_APPLICATION_ID || version <= 0)
        return err_set(e, ERR_IO, "%s is an SQLite database of another program; move it away or give another directory",
                       path);
    if (version > (int64_t)newest)
        return err_set(
            e, ERR_CONFLICT,
            "%s has schema version %lld, but this Fairlead reads versions up to %u; install the newer Fairlead", path,
            (long long)version, newest);
    *out_version = (uint32_t)version;
    return 0;
}

int schema_upgrade(sqlite3 *db, const char *const *steps, uint32_t from, uint32_t to, struct err *e)
{
    char pragmas[80];
    ensure(from <= to);
    for (uint32_t version = from; version < to; version++) {
        if (sql_run(db, steps[version], e) != 0) return err_prefix(e, "schema version %u", version + 1);
    }
    text_format(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %u", SCHEMA_APPLICATION_ID,
                to);
    if (from != to && sql_run(db, pragmas, e) != 0) return -1;
    int64_t broken_count = 0;
    if (sql_number(db, "SELECT count(*) FROM pragma_foreign_key_check", &broken_count, e) != 0) return -1;
    if (broken_count > 0)
        return err_set(e, ERR_INTERNAL, "schema version %u: %lld rows refer to rows that do not exist", to,
                       (long long)broken_count);
    return 0;
}

int schema_prepare_connection(sqlite3 *db, struct err *e)
{
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, SCHEMA_LOCK_TIMEOUT_MS);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return sql_run(db, "PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON", e);
}
