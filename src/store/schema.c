/* The schema of fairlead.db. It is for people, too: docs/schema.md explains every column and `.schema` in sqlite3 shows
 * the comments below. Changing it: append a step, never edit one that was released; the test of migrations runs them all.
 *
 *     association 1 ──< job 1 ──< task           one row per start
 *          │             └── 1 job_script >── content (script, environment; equal ones are kept once)
 *          └──< journal                          what changed the meaning of usage
 *     partition, qos, user_policy, project, department, resource      what an administrator names (fields/objects.h)
 *     owner_usage                               of users and projects, for the share tree of the tickets model
 *     min_priority                            what jobs keep with INCR_ONLY
 *     setting, counters
 *
 * Invariants
 *   1. PRAGMA user_version is the number of steps applied; application_id is ours from the first step on. Both are set in
 *      the transaction that makes the tables, so a file is either new (no tables at all) or whole.
 *   2. Times are microseconds since the epoch (_us) and NULL where the moment has not come; spans are seconds (_s).
 *   3. States are words. end_us is set exactly in the ended states.
 *   4. What has not ended is found through partial indexes, so that starting the daemon costs what lives, not what ever ran.
 *      The other indexes are there so that every listing (reader_sql.c) reads its rows in order, without sorting.
 *   5. Associations are never deleted as rows: old jobs refer to them. deleted_us says since when they do not stand.
 *   6. Jobs and tasks have the names of partitions, QOS, projects and resources, not their ids: what was deleted goes, and
 *      history says what was asked for. A column of such a table is named as its field is (objects.c).
 * Foreign keys are checked at COMMIT (deferred): one turn may make a parent after its child. */
#include "store/schema.h"

#include "base/text.h"
#include "store/sql.h"

static const char step_1[] =
    "CREATE TABLE association(\n"
    "  id INTEGER PRIMARY KEY,             -- 1 is the root account; never used again\n"
    "  parent_id INTEGER REFERENCES association(id) DEFERRABLE INITIALLY DEFERRED, -- NULL: root\n"
    "  account TEXT NOT NULL,\n"
    "  user TEXT,                          -- NULL: the account itself\n"
    "  shares INTEGER NOT NULL CHECK (shares BETWEEN 0 AND 2147483647), -- 2147483647: those of the parent\n"
    "  is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)), -- the user's association for jobs that name no account\n"
    "  usage_billing_s REAL NOT NULL,      -- its own, without its children's, as it reads at counters.reference_us\n"
    "  usage_tres TEXT,                    -- the same by resource, 'cpu=355.5,mem=64': units times seconds; NULL: none\n"
    "  priority INTEGER CHECK (priority BETWEEN 0 AND 4294967294), -- NULL: its parent's, at last 0\n"
    "  created_us INTEGER NOT NULL,\n"
    "  deleted_us INTEGER                  -- NULL: it stands\n"
    ") STRICT;\n"
    "CREATE UNIQUE INDEX association_name ON association(account, ifnull(user, '')) WHERE deleted_us IS NULL;\n"
    "CREATE INDEX association_account ON association(account);\n"
    "CREATE INDEX association_user ON association(user, account);\n"

    "CREATE TABLE job(\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  association_id INTEGER NOT NULL REFERENCES association(id) DEFERRABLE INITIALLY DEFERRED,\n"
    "  uid INTEGER NOT NULL, gid INTEGER NOT NULL,\n"
    "  name TEXT NOT NULL,\n"
    "  command TEXT NOT NULL,              -- for people; what runs is in job_script\n"
    "  directory TEXT NOT NULL,\n"
    "  out_pattern TEXT NOT NULL,\n"
    "  err_pattern TEXT,                   -- NULL: where the output goes\n"
    "  cpus INTEGER NOT NULL, gpus INTEGER NOT NULL, mem_mib INTEGER NOT NULL, -- of each task\n"
    "  time_limit_s INTEGER NOT NULL,\n"
    "  submit_us INTEGER NOT NULL,\n"
    "  begin_us INTEGER,                   -- not before; NULL: at once\n"
    "  accrue_us INTEGER,                  -- since when it grows older; NULL: it does not\n"
    "  deadline_us INTEGER,\n"
    "  partitions TEXT NOT NULL,           -- 'fast,batch': where it may run\n"
    "  qos TEXT NOT NULL,\n"
    "  project TEXT,                       -- NULL: none\n"
    "  nice INTEGER NOT NULL, site INTEGER NOT NULL,\n"
    "  set_priority INTEGER,               -- by hand; NULL: computed\n"
    "  posix_priority INTEGER NOT NULL,\n"
    "  job_share INTEGER NOT NULL, override_tickets INTEGER NOT NULL,\n"
    "  slots_most INTEGER,                 -- of a range of slots that begins with cpus; NULL: no range\n"
    "  requests TEXT NOT NULL,             -- 'license=2,bigio=true': of resources, '' when none\n"
    "  is_held INTEGER NOT NULL CHECK (is_held IN (0, 1)),\n"
    "  array_tasks TEXT,                   -- '0-999': as submitted; NULL: not an array, its one task is 0\n"
    "  array_limit INTEGER,                -- tasks at once; NULL: no limit\n"
    "  pending_tasks TEXT NOT NULL,        -- not started: '3-999', '' when none\n"
    "  cancelled_tasks TEXT NOT NULL,      -- cancelled before they started\n"
    "  cancelled_us INTEGER,               -- when the last of those was\n"
    "  ended_us INTEGER                    -- NULL: something of it is pending or runs\n"
    ") STRICT;\n"
    "CREATE INDEX job_association ON job(association_id, id);\n"
    "CREATE INDEX job_live ON job(id) WHERE ended_us IS NULL;\n"
    "CREATE INDEX job_live_association ON job(association_id, id) WHERE ended_us IS NULL;\n"
    "CREATE INDEX job_cancelled ON job(id) WHERE cancelled_us IS NOT NULL;\n"
    "CREATE INDEX job_cancelled_time ON job(cancelled_us) WHERE cancelled_us IS NOT NULL;\n"

    "CREATE TABLE task(\n"
    "  job_id INTEGER NOT NULL REFERENCES job(id) DEFERRABLE INITIALLY DEFERRED,\n"
    "  task_id INTEGER NOT NULL,           -- 0 unless the job is an array\n"
    "  association_id INTEGER NOT NULL,    -- its job's\n"
    "  state TEXT NOT NULL,\n"
    "  is_cancelled INTEGER NOT NULL CHECK (is_cancelled IN (0, 1)), -- somebody asked for its end\n"
    "  launch_id INTEGER NOT NULL,         -- what the launcher knows it by\n"
    "  boot_id TEXT NOT NULL,              -- of the boot it was launched in\n"
    "  launch_us INTEGER NOT NULL,         -- decided\n"
    "  start_us INTEGER,                   -- NULL: not yet, or never ran\n"
    "  charged_us INTEGER,                 -- its usage is in the association's up to here\n"
    "  end_us INTEGER,\n"
    "  partition TEXT NOT NULL,\n"
    "  billing REAL NOT NULL,              -- units per second, by the weights of its partition\n"
    "  usage_factor REAL NOT NULL,         -- of its QOS: billing times this is what it is charged per second\n"
    "  tres TEXT NOT NULL,                 -- 'cpu=4,mem=8192': what it has, as usage counts it\n"
    "  cpus TEXT NOT NULL, gpus TEXT NOT NULL, mem_mib INTEGER NOT NULL, -- given to it: numbers, '0-3'\n"
    "  exit_status INTEGER NOT NULL, signal INTEGER NOT NULL,\n"
    "  cpu_us INTEGER NOT NULL,            -- used, of all its processes\n"
    "  max_rss_kib INTEGER NOT NULL,\n"
    "  detail TEXT NOT NULL,               -- why it failed, where that is known\n"
    "  PRIMARY KEY (job_id, task_id),\n"
    "  CHECK (CASE WHEN end_us IS NULL THEN state IN ('STARTING', 'RUNNING', 'COMPLETING')\n"
    "         ELSE state IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT', 'NODE_FAIL') END)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE INDEX task_live ON task(job_id, task_id) WHERE end_us IS NULL;\n"
    "CREATE INDEX task_ended_time ON task(end_us) WHERE end_us IS NOT NULL;\n"
    "CREATE INDEX task_ended_state ON task(state, end_us) WHERE end_us IS NOT NULL;\n"
    "CREATE INDEX task_ended_association ON task(association_id, end_us) WHERE end_us IS NOT NULL;\n"

    "CREATE TABLE content(                  -- texts that many jobs share: scripts, environments\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  hash INTEGER NOT NULL,\n"
    "  bytes BLOB NOT NULL\n"
    ") STRICT;\n"
    "CREATE INDEX content_hash ON content(hash);\n"

    "CREATE TABLE job_script(\n"
    "  job_id INTEGER PRIMARY KEY REFERENCES job(id) DEFERRABLE INITIALLY DEFERRED,\n"
    "  script_name TEXT NOT NULL,          -- '' for a command\n"
    "  script_id INTEGER NOT NULL REFERENCES content(id), -- empty content: the first argument is the program\n"
    "  arguments BLOB NOT NULL,            -- each closed by a zero byte\n"
    "  environment_id INTEGER NOT NULL REFERENCES content(id) -- NAME=value, each closed by a zero byte\n"
    ") STRICT;\n"

    "CREATE TABLE partition(                -- where jobs are submitted to; the one of the least id where none is named\n"
    "  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_us INTEGER NOT NULL,\n"
    "  priority_job_factor INTEGER NOT NULL,\n"
    "  priority_tier INTEGER NOT NULL,\n"
    "  max_time_s INTEGER,                 -- NULL: unlimited\n"
    "  tres_billing_weights TEXT NOT NULL, -- 'CPU=1.0,Mem=0.25G'; '': its CPUs\n"
    "  fshare INTEGER NOT NULL, oticket INTEGER NOT NULL -- functional shares, override tickets\n"
    ") STRICT;\n"

    "CREATE TABLE qos(\n"
    "  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_us INTEGER NOT NULL,\n"
    "  usage_billing_s REAL NOT NULL,      -- of its jobs, as association.usage_billing_s; with NoDecay it does not fade\n"
    "  priority INTEGER NOT NULL,\n"
    "  usage_factor REAL NOT NULL,\n"
    "  usage_threshold REAL NOT NULL,\n"
    "  flags TEXT NOT NULL\n"
    ") STRICT;\n"

    "CREATE TABLE user_policy(              -- what the ticket policies give a user\n"
    "  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_us INTEGER NOT NULL,\n"
    "  fshare INTEGER NOT NULL, oticket INTEGER NOT NULL,\n"
    "  department TEXT NOT NULL,\n"
    "  deadline INTEGER NOT NULL CHECK (deadline IN (0, 1)) -- jobs may have one\n"
    ") STRICT;\n"

    "CREATE TABLE project(\n"
    "  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_us INTEGER NOT NULL,\n"
    "  fshare INTEGER NOT NULL, oticket INTEGER NOT NULL\n"
    ") STRICT;\n"

    "CREATE TABLE department(\n"
    "  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_us INTEGER NOT NULL,\n"
    "  fshare INTEGER NOT NULL, oticket INTEGER NOT NULL\n"
    ") STRICT;\n"

    "CREATE TABLE resource(                 -- what jobs request by name\n"
    "  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_us INTEGER NOT NULL,\n"
    "  type TEXT NOT NULL,                 -- how amounts are written: INT, MEMORY ...\n"
    "  urgency REAL NOT NULL,\n"
    "  amount INTEGER                      -- there is for all jobs together; NULL: unlimited\n"
    ") STRICT;\n"

    "CREATE TABLE owner_usage(              -- what the share tree of the tickets model counts\n"
    "  user TEXT NOT NULL,                 -- '': of the project, whoever ran\n"
    "  project TEXT NOT NULL,              -- '': outside of projects\n"
    "  cpu_s REAL NOT NULL, mem_gib_s REAL NOT NULL, io_gib REAL NOT NULL, finished_jobs REAL NOT NULL, -- at at_us\n"
    "  at_us INTEGER NOT NULL,\n"
    "  PRIMARY KEY (user, project)\n"
    ") STRICT;\n"

    "CREATE TABLE setting(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;\n"

    "CREATE TABLE counters(                 -- one row\n"
    "  id INTEGER PRIMARY KEY CHECK (id = 1),\n"
    "  next_association_id INTEGER NOT NULL, next_job_id INTEGER NOT NULL, next_launch_id INTEGER NOT NULL,\n"
    "  halflife_us INTEGER NOT NULL,       -- 0: usage does not fade\n"
    "  reference_us INTEGER NOT NULL,      -- the moment at which usage_billing_s is right as it stands\n"
    "  last_commit_us INTEGER NOT NULL\n"
    ") STRICT;\n"

    "CREATE TABLE journal(\n"
    "  seq INTEGER PRIMARY KEY,\n"
    "  at_us INTEGER NOT NULL,\n"
    "  kind TEXT NOT NULL CHECK (kind IN ('HALFLIFE', 'SHARES', 'FOLD', 'LATE', 'QOS_DECAY')),\n"
    "  association_id INTEGER REFERENCES association(id) DEFERRABLE INITIALLY DEFERRED, -- or NULL\n"
    "  before INTEGER NOT NULL, after INTEGER NOT NULL -- seconds; shares; FOLD: after is who took the usage; LATE: job and\n"
    "                                      -- task; QOS_DECAY: id of the QOS, and 1 where its usage fades from here on\n"
    ") STRICT;\n"

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

/* No REFERENCES: SQLite then forgets all rows at once, and not one by one. */
static const char step_2[] =
    "CREATE TABLE priority_floor(           -- with PriorityFlags=INCR_ONLY, of jobs that wait\n"
    "  job_id INTEGER NOT NULL, partition TEXT NOT NULL,\n"
    "  priority INTEGER NOT NULL CHECK (priority BETWEEN 1 AND 4294967295), -- what it has there at least\n"
    "  PRIMARY KEY (job_id, partition)\n"
    ") STRICT, WITHOUT ROWID;\n";

/* Usage can be reset, and the journal says how that of owners fades. What faded before this step nobody wrote down; from its
 * moment on it is the rule of the settings. */
static const char step_3[] =
    "ALTER TABLE association ADD COLUMN reset_us INTEGER; -- its usage counts from here on; NULL: from the beginning\n"
    "ALTER TABLE qos ADD COLUMN reset_us INTEGER;\n"
    "ALTER TABLE owner_usage ADD COLUMN reset_us INTEGER;\n"
    "ALTER TABLE counters ADD COLUMN usage_reset_us INTEGER; -- all usage counts from here on; NULL: from the beginning\n"
    "ALTER TABLE counters ADD COLUMN reset_period_us INTEGER; -- boundaries of PriorityUsageResetPeriod count from here on\n"

    "CREATE TABLE journal_2(\n"
    "  seq INTEGER PRIMARY KEY,\n"
    "  at_us INTEGER NOT NULL,\n"
    "  kind TEXT NOT NULL CHECK (kind IN ('HALFLIFE', 'SHARES', 'FOLD', 'LATE', 'QOS_DECAY', 'OWNER_RULE', 'RESET')),\n"
    "  association_id INTEGER REFERENCES association(id) DEFERRABLE INITIALLY DEFERRED, -- or NULL\n"
    "  before INTEGER NOT NULL, after INTEGER NOT NULL, -- by kind: docs/schema.md\n"
    "  detail TEXT                         -- OWNER_RULE: the rule; RESET: of what, where it is no association\n"
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

/* One word for one thing: the journal is that of usage; a range of slots has a maximum. And jobs have comments. */
static const char step_4[] =
    "ALTER TABLE journal RENAME TO usage_journal;\n"
    "ALTER TABLE priority_floor RENAME TO min_priority;\n"
    "ALTER TABLE job RENAME COLUMN slots_most TO slots_max;\n"
    "ALTER TABLE job ADD COLUMN comment TEXT; -- a note of the job's user; NULL: none\n"
    "ALTER TABLE job ADD COLUMN admin_comment TEXT; -- a note of an operator; NULL: none\n"
    "UPDATE job SET begin_us = 253402300799000000 WHERE begin_us > 253402300799000000;\n"
    "UPDATE job SET deadline_us = 253402300799000000 WHERE deadline_us > 253402300799000000;\n";

const char *const schema_steps[] = {step_1, step_2, step_3, step_4};
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
        return err_set(e, ERR_IO,
                       "%s is an SQLite database, but not one of Fairlead's; move it away or give another directory",
                       path);
    if (version > (int64_t)newest)
        return err_set(
            e, ERR_CONFLICT,
            "%s has schema version %lld, made by a newer Fairlead; this one knows versions up to %u: install the newer one",
            path, (long long)version, newest);
    *out_version = (uint32_t)version;
    return 0;
}

int schema_upgrade(sqlite3 *db, const char *const *steps, uint32_t from, uint32_t to, struct err *e)
{
    char pragmas[80];
    for (uint32_t version = from; version < to; version++) {
        if (sql_run(db, steps[version], e) != 0) return err_prefix(e, "schema version %u", version + 1);
    }
    text_format(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %u", SCHEMA_APPLICATION_ID,
                to);
    if (from != to && sql_run(db, pragmas, e) != 0) return -1;
    int64_t strays = 0;
    if (sql_number(db, "SELECT count(*) FROM pragma_foreign_key_check", &strays, e) != 0) return -1;
    if (strays > 0)
        return err_set(e, ERR_INTERNAL, "schema version %u would leave %lld rows without what they refer to", to,
                       (long long)strays);
    return 0;
}

int schema_prepare_connection(sqlite3 *db, struct err *e)
{
    enum { WAIT_MS = 100 }; /* the loop waits with us; nobody but a person with sqlite3 makes us wait */
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, WAIT_MS);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return sql_run(db, "PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON", e);
}
