#!/usr/bin/python3
"""The cost of fairlead share -f for 10^5 users in 1000 accounts: the whole process, with both file formats and all outputs.

Yardstick of the same run: awk reads the same lines and prints nine columns of each with 17 digits, without a tree, ranks or
levels. (`sshare -a` of Slurm 22.05.8 takes 114 s for a tree of this size.)

The exit status is 1 if a case takes longer than the limit.
"""
import os
import random
import subprocess
import sys
import tempfile
import time

FAIRLEAD = os.path.join(os.environ.get('FAIRLEAD_BUILD', 'build'), 'fairlead')
ACCOUNTS, USERS, RUNS, LIMIT_S = 1000, 100, 7, 0.3
AWK = '{ printf "%s|%s|%s|%.17g|%.17g|%.17g|%.17g|%.17g|%.17g\\n", $1, $2, $3, $5/3, $5, $5/7, $5/11, $5/13, $5/17 }'


def write_files(folder):
    """The same tree as TSV and in the format of sshare -a -l -P."""
    dice = random.Random(1)
    tsv, psv = ['parent\taccount\tuser\tshares\tusage'], []
    total = 0
    for a in range(ACCOUNTS):
        users = [(u, dice.randint(1, 100), dice.random() * 1e7) for u in range(USERS)]
        account, shares = 'account%d' % a, dice.randint(1, 1000)
        usage = sum(own for _, _, own in users)
        total += usage
        tsv.append('root\t%s\t\t%d\t' % (account, shares))
        psv.append(' %s||%d|0.001000|%d|0.001000|0.001000||1.000000||cpu=0,mem=0,node=0' % (account, shares, usage))
        for u, shares, own in users:
            user = 'user%d' % (a * USERS + u)
            tsv.append('\t%s\t%s\t%d\t%r' % (account, user, shares, own))
            psv.append('  %s|%s|%d|0.010000|%d|0.000010|0.010000|0.500000|1.000000||cpu=0,mem=0,node=0'
                       % (account, user, shares, own))
    psv[:0] = ['Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS|GrpTRESMins|TRESRunMins',
               'root|||0.000000|%d||1.000000||||cpu=0,mem=0,node=0' % total]
    paths = []
    for name, lines in ('tree.tsv', tsv), ('sshare.psv', psv):
        paths.append(os.path.join(folder, name))
        with open(paths[-1], 'w', encoding='utf-8') as file:
            file.write('\n'.join(lines) + '\n')
    return paths


def measure(command):
    """Seconds of each run, ascending."""
    times = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - begin)
    return sorted(times)


def main():
    with tempfile.TemporaryDirectory() as folder:
        tsv, psv = write_files(folder)
        cases = [(form, options, [FAIRLEAD, 'share', '-f', path, *options])
                 for form, path in (('TSV', tsv), ('sshare', psv))
                 for options in (['-P'], [], ['--json'], ['-P', '--ties', 'slurm'])]
        print('%d users in %d accounts; %d runs; limit %.0f ms' % (ACCOUNTS * USERS, ACCOUNTS, RUNS, LIMIT_S * 1e3))
        print('%-28s %10s %10s %12s' % ('', 'min ms', 'median ms', 'ns per user'))
        slow = 0
        for form, options, command in cases:
            times = measure(command)
            median = times[RUNS // 2]
            slow += median > LIMIT_S
            print('%-28s %10.0f %10.0f %12.0f%s' % (form + ' ' + (' '.join(options) or '(table)'), times[0] * 1e3, median * 1e3,
                                                 median * 1e9 / (ACCOUNTS * USERS), '  TOO SLOW' if median > LIMIT_S else ''))
        times = measure(['awk', '-F', '\t', AWK, tsv])
        print('%-28s %10.0f %10.0f %12.0f' % ('yardstick: awk printing', times[0] * 1e3, times[RUNS // 2] * 1e3,
                                             times[RUNS // 2] * 1e9 / (ACCOUNTS * USERS)))
        times = measure([FAIRLEAD, '--version'])
        print('%-28s %10.1f %10.1f' % ('fairlead --version', times[0] * 1e3, times[RUNS // 2] * 1e3))
        return 1 if slow else 0


if __name__ == '__main__':
    sys.exit(main())
