#include "pretend/pretend_job.h"

#include <math.h>

#include "base/number.h"
#include "base/quantity.h"
#include "base/rng.h"

enum { WORDS_MAX = 16, EXIT_STATUS_MAX = 255 };

/* --- words -------------------------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The next word; separators are blanks and, if has_commas, commas. Empty at the end. */
static struct str next_word(struct str *rest, bool has_commas)
{
    const char *at = rest->text, *end = rest->length > 0 ? rest->text + rest->length : at;
    while (at < end && (is_blank(*at) || (has_commas && *at == ','))) at++;
    const char *begin = at;
    while (at < end && !is_blank(*at) && !(has_commas && *at == ',')) at++;
    *rest = str_range(at, end);
    return str_range(begin, at);
}

static struct str base_name(struct str path)
{
    for (size_t i = path.length; i > 0; i--) {
        if (path.text[i - 1] == '/') return str_range(path.text + i, path.text + path.length);
    }
    return path;
}

/* --- sleep -------------------------------------------------------------------------------------------------------- */

/* "90", "1.5h" */
static bool read_sleep(struct str text, double *out_s)
{
    static const char suffixes[] = "smhd";
    static const double factors[] = {1.0, 60.0, 3600.0, 86400.0};
    double number, factor = 1.0;
    char last = text.length > 0 ? text.text[text.length - 1] : '\0';
    for (size_t i = 0; suffixes[i] != '\0'; i++) {
        if (last != suffixes[i]) continue;
        factor = factors[i];
        text.length--;
    }
    if (!number_parse_double(text, &number) || !(number >= 0.0) || !isfinite(number)) return false;
    *out_s = number * factor;
    return true;
}

bool pretend_job_sleep_us(const struct str *arguments, uint32_t count, int64_t *out_us)
{
    double sum_s = 0.0, one_s;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_sleep(arguments[i], &one_s)) return false;
        sum_s += one_s;
    }
    if (count == 0 || sum_s > (double)DURATION_S_MAX) return false;
    *out_us = (int64_t)(sum_s * (double)US_PER_S);
    return true;
}

/* The only line of a script that is neither empty nor a comment; empty if there is none, or another one. */
static struct str only_command(struct str script)
{
    struct str found = {0};
    for (struct str rest = script; rest.text != NULL;) {
        struct str line = str_trim(str_cut(rest, '\n', &rest));
        if (line.length == 0 || line.text[0] == '#') continue;
        if (found.length > 0) return (struct str){0};
        found = line;
    }
    return found;
}

static bool read_command(const struct pretend_job *job, int64_t *out_us)
{
    struct str words[WORDS_MAX];
    uint32_t count = 0;
    const struct str *command = job->arguments;
    if (job->script.length > 0) {
        struct str rest = only_command(job->script);
        for (struct str word = next_word(&rest, false); word.length > 0 && count < WORDS_MAX;
             word = next_word(&rest, false))
            words[count++] = word;
        command = words;
    } else {
        count = job->argument_count;
    }
    if (count < 2 || !str_equal(base_name(command[0]), str("sleep"))) return false;
    return pretend_job_sleep_us(command + 1, count - 1, out_us);
}

/* --- the comment -------------------------------------------------------------------------------------------------- */

/* "90" is seconds; with a colon or a dash it is a duration. */
static bool read_run(struct str text, int64_t *out_us)
{
    uint64_t seconds;
    int64_t duration_s;
    if (number_parse_u64(text, &seconds)) {
        if (seconds > (uint64_t)DURATION_S_MAX) return false;
        *out_us = (int64_t)seconds * US_PER_S;
        return true;
    }
    if (!duration_read(text, &duration_s) || duration_s < 0 || duration_s > DURATION_S_MAX) return false;
    *out_us = duration_s * US_PER_S;
    return true;
}

static bool read_exit(struct str text, uint64_t *out_status)
{
    return number_parse_u64(text, out_status) && *out_status <= EXIT_STATUS_MAX;
}

int pretend_job_check_comment(const char *comment, struct err *e)
{
    struct str rest = str(comment);
    for (struct str word = next_word(&rest, true); word.length > 0; word = next_word(&rest, true)) {
        struct str value, key = str_cut(word, '=', &value);
        int64_t run_us;
        uint64_t status;
        if (value.text == NULL) continue;
        if (str_equal(key, str("run")) && !read_run(value, &run_us))
            return err_value(e, "comment", word, "run=SECONDS or run=H:M:S, up to ten years, as in pretend clusters");
        if (str_equal(key, str("exit")) && !read_exit(value, &status))
            return err_value(e, "comment", word, "exit=STATUS, from 0 to %d, as in pretend clusters", EXIT_STATUS_MAX);
    }
    return 0;
}

/* What a comment says; members that it does not say stay. Other words are the comment's own. */
static void read_comment(const char *comment, bool *out_has_run, bool *out_has_exit, struct pretend_run *io_run)
{
    struct str rest = str(comment);
    for (struct str word = next_word(&rest, true); word.length > 0; word = next_word(&rest, true)) {
        struct str value, key = str_cut(word, '=', &value);
        uint64_t status;
        if (value.text != NULL && str_equal(key, str("run"))) *out_has_run |= read_run(value, &io_run->run_us);
        bool is_status = value.text != NULL && str_equal(key, str("exit")) && read_exit(value, &status);
        if (is_status) io_run->exit_status = (int32_t)status;
        if (str_equal(word, str("fail"))) io_run->exit_status = 1;
        *out_has_exit |= is_status || str_equal(word, str("fail"));
    }
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static int64_t draw_us(const struct pretend_rules *rules, int64_t time_limit_s, double drawn)
{
    double limit_us = (double)time_limit_s * (double)US_PER_S;
    double run_us = limit_us * rules->of_limit * (1.0 + rules->spread * (2.0 * drawn - 1.0));
    if (run_us > limit_us) run_us = limit_us;
    return run_us < (double)US_PER_S ? US_PER_S : (int64_t)run_us;
}

struct pretend_run pretend_job_run(const struct pretend_rules *rules, const struct pretend_job *job)
{
    uint64_t task = hash_u64((uint64_t)job->job_id << 32 | job->task_id);
    struct rng rng = {.state = hash_u64(rules->seed + 1) ^ (job->restarts > 0 ? hash_u64(task + job->restarts) : task)};
    double drawn = rng_double(&rng), failing = rng_double(&rng);
    struct pretend_run run = {.cpu_part = 1.0 - 0.3 * rng_double(&rng), .mem_part = 0.9 - 0.5 * rng_double(&rng)};
    bool has_run = false, has_exit = false;
    read_comment(job->comment, &has_run, &has_exit, &run);
    if (!has_run && !read_command(job, &run.run_us)) run.run_us = draw_us(rules, job->time_limit_s, drawn);
    if (!has_exit && failing * 100.0 < rules->fail_percent) run.exit_status = 1;
    return run;
}
