"""GPUs as the vendors' libraries show them: fairlead status --gpus, what jobs get, and what happens when a GPU, or a library, fails.
The libraries are fake_nvml.c and fake_rocm_smi.c, whose answers are lines of a file that a test changes while the daemon runs."""
import json
import os
import signal
import subprocess

import pytest

from conftest import BUILD, SETTINGS, until

MIG = 'MIG-%08d-0000-0000-0000-000000000000'


def uuid(number):
    return 'GPU-%08d-1111-2222-3333-444444444444' % number


def gpu(number, kind='gpu', bus=None, minor=None, used=0, busy=0, name='NVIDIA A100-SXM4-80GB', processes=''):
    """The line of an NVIDIA GPU; its number is that of its UUID, and that of its bus and its device unless they are given."""
    bus = '00000000:%02X:00.0' % (bus if bus is not None else 16 + number)
    return '|'.join(map(str, [kind, uuid(number), bus, minor if minor is not None else number, 81920, used, busy, name, processes]))


class Gpus:
    def __init__(self, instance):
        self.instance = instance
        libraries = instance.home / 'libraries'
        libraries.mkdir()
        (libraries / 'libnvidia-ml.so.1').symlink_to(BUILD / 'tests/system/fake-nvml.so')
        (libraries / 'librocm_smi64.so.6').symlink_to(BUILD / 'tests/system/fake-rocm-smi.so')
        self.nvidia_file, self.amd_file = instance.home / 'nvidia', instance.home / 'amd'
        instance.environment.update(LD_LIBRARY_PATH=str(libraries), FAKE_NVML=str(self.nvidia_file), FAKE_ROCM_SMI=str(self.amd_file))
        self.nvidia()
        self.amd()

    @staticmethod
    def write(path, lines):
        new = path.with_suffix('.new')
        new.write_text(''.join(line + '\n' for line in lines))
        new.rename(path)  # a probe never reads a part of it

    def nvidia(self, *lines):
        self.write(self.nvidia_file, lines)

    def amd(self, *lines):
        self.write(self.amd_file, lines)

    def start(self):
        self.instance.start('--set', SETTINGS.replace('host_gpus=0', 'host_gpus=auto'))
        self.instance.good('set', 'gpu_poll_s=1')

    def rows(self):
        return json.loads(self.instance.good('status', '--gpus', '--json'))

    def values(self, field):
        return [row[field] for row in self.rows()]

    def fault(self):
        return json.loads(self.instance.good('status', '--json'))['gpus'] or ''

    def host(self):
        return json.loads(self.instance.good('status', '--json'))['host']

    def sleeper(self, *arguments):
        """A job that runs until it is cancelled, and its pid."""
        path = self.instance.work / 'pid'
        path.unlink(missing_ok=True)
        job = self.instance.submit(*arguments, '--', 'sh', '-c', 'echo $$ > pid.new; mv pid.new pid; exec sleep 600')
        return job, int(until(lambda: path.exists() and path.read_text(), 'the job to start'))

    def environment(self, *arguments):
        """The variables of a job that choose GPUs."""
        self.instance.submit('--wait', *arguments, '--out', 'environment', '--', 'env')
        lines = (self.instance.work / 'environment').read_text().splitlines()
        names = 'CUDA_VISIBLE_DEVICES', 'ROCR_VISIBLE_DEVICES', 'FAIRLEAD_GPU_IDS'
        return {line.partition('=')[0]: line.partition('=')[2] for line in lines if line.startswith(names)}

    def daemon(self):
        return json.loads(self.instance.good('status', '--json'))['pid']

    def probes(self):
        """The processes that look at GPUs, of this daemon."""
        found = []
        for task in os.listdir('/proc/%d/task' % self.daemon()):
            found += open('/proc/%d/task/%s/children' % (self.daemon(), task)).read().split()
        return [int(pid) for pid in found if b'--probe-gpus' in open('/proc/%s/cmdline' % pid, 'rb').read()]


@pytest.fixture
def gpus(stopped):
    return Gpus(stopped)


def test_gpus_are_listed_in_the_order_of_the_bus(gpus):
    gpus.nvidia(gpu(1, used=1024, busy=37, name='Tesla V100'), gpu(0))
    gpus.amd('gpu|a1b2c3d4e5f60718|0000:c1:00.0|65536|512|5|AMD Instinct MI210|')
    gpus.start()
    rows = gpus.rows()
    assert [row['gpu'] for row in rows] == [0, 1, 2]
    assert [row['uuid'] for row in rows] == [uuid(0), uuid(1), 'GPU-a1b2c3d4e5f60718']
    assert [row['bus_id'] for row in rows] == ['00000000:10:00.0', '00000000:11:00.0', '00000000:c1:00.0']
    assert [row['vendor'] for row in rows] == ['nvidia', 'nvidia', 'amd']
    assert [row['name'] for row in rows] == ['NVIDIA A100-SXM4-80GB', 'Tesla V100', 'AMD Instinct MI210']
    assert [(row['mem_mib'], row['used_mib'], row['busy_percent']) for row in rows] == [(81920, 0, 0), (81920, 1024, 37), (65536, 512, 5)]
    assert {row['state'] for row in rows} == {'up'} and {row['job'] for row in rows} == {None}
    assert gpus.host()['gpus'] == 3 and gpus.fault() == ''
    table = gpus.instance.good('status', '--gpus')
    assert 'Tesla V100' in table and '80G' in table
    lines = gpus.instance.good('status', '--gpus', '-P', '-o', 'gpu,uuid').splitlines()
    assert lines[1] == '0|' + uuid(0)


def test_a_machine_without_a_library_has_no_gpus(instance):
    result = instance.run('status', '--gpus')
    assert result.status == 0 and 'no library of NVIDIA or AMD shows a GPU' in result.err
    assert json.loads(instance.good('status', '--gpus', '--json')) == []
    assert json.loads(instance.good('status', '--json'))['gpus'] is None


def test_processes_that_found_no_library_are_waited_for(instance):
    """They end by themselves, some time after they have said so."""
    def states():
        listed = subprocess.run(['ps', '-o', 'stat=', '--ppid', str(instance.pid())], capture_output=True, text=True)
        return [line[0] for line in listed.stdout.split()]

    until(lambda: 'Z' not in states(), 'the processes to be waited for')


def test_options_of_the_listing_need_it(instance):
    assert '--gpus' in instance.bad('status', '--parsable')
    assert 'colour' in instance.bad('status', '--gpus', '-o', 'colour')


def test_a_job_sees_its_gpus_by_number(gpus):
    gpus.nvidia(gpu(0), gpu(1))
    gpus.start()
    job, _ = gpus.sleeper('-G', '1')
    assert gpus.values('job') == [str(job), None]
    seen = gpus.environment('-G', '1')
    assert seen == {'CUDA_VISIBLE_DEVICES': '1', 'FAIRLEAD_GPU_IDS': '1'}
    assert gpus.environment() == {'CUDA_VISIBLE_DEVICES': '', 'FAIRLEAD_GPU_IDS': ''}


def test_where_minors_and_the_bus_differ_a_job_sees_uuids(gpus):
    gpus.nvidia(gpu(0, bus=0x81, minor=0), gpu(1, bus=0x21, minor=1))
    gpus.start()
    assert gpus.values('uuid') == [uuid(1), uuid(0)]
    assert gpus.environment('-G', '1') == {'CUDA_VISIBLE_DEVICES': uuid(1), 'FAIRLEAD_GPU_IDS': '0'}


def test_amd_gpus_are_chosen_by_uuid_or_by_number(gpus):
    gpus.amd('gpu|0|0000:03:00.0|16384|0|0|Radeon|', 'gpu|00000000000000ab|0000:83:00.0|16384|0|0|MI210|')
    gpus.start()
    assert gpus.environment('-G', '2') == {'ROCR_VISIBLE_DEVICES': '0,GPU-00000000000000ab', 'FAIRLEAD_GPU_IDS': '0,1'}
    gpus.nvidia(gpu(0))
    until(lambda: len(gpus.rows()) == 3, 'the new GPU')
    assert gpus.values('vendor') == ['nvidia', 'amd', 'amd']  # no job has one: they are numbered anew
    assert gpus.environment('-G', '2') == {'CUDA_VISIBLE_DEVICES': '0', 'ROCR_VISIBLE_DEVICES': '0', 'FAIRLEAD_GPU_IDS': '0,1'}


def test_slices_are_gpus_of_their_own(gpus):
    gpus.nvidia(gpu(0), 'slice|%s|10240|5|A100 MIG 1g.10gb|' % (MIG % 1), 'gap', 'slice|%s|20480|0|A100 MIG 2g.20gb|' % (MIG % 2), gpu(1))
    gpus.start()
    assert gpus.values('uuid') == [MIG % 1, MIG % 2, uuid(1)]
    assert gpus.values('mem_mib') == [10240, 20480, 81920]
    assert gpus.values('busy_percent') == [None, None, 0]
    assert {row['bus_id'] for row in gpus.rows()[:2]} == {'00000000:10:00.0'}
    assert gpus.environment('-G', '1')['CUDA_VISIBLE_DEVICES'] == MIG % 1


def test_a_gpu_that_falls_off_the_bus_is_drained(gpus):
    """Its job goes on; nothing else gets it; its number stays, and it comes back."""
    gpus.nvidia(gpu(0), gpu(1))
    gpus.start()
    first, _ = gpus.sleeper('-G', '1')
    gpus.nvidia(gpu(0, kind='lost'), gpu(1))
    until(lambda: gpus.values('state') == ['drained', 'up'], 'the loss')
    assert 'GPU is lost' in gpus.rows()[0]['fault'] and gpus.values('uuid') == [uuid(0), uuid(1)]
    assert 'GPU 0 drained' in gpus.fault() and 'GPU 0 drained' in gpus.instance.good('status')
    assert gpus.instance.job(first)['state'] == 'RUNNING'
    second, _ = gpus.sleeper('-G', '1')
    assert gpus.values('job') == [str(first), str(second)]
    third = gpus.instance.submit('-G', '1', '--', 'true')
    gpus.instance.good('cancel', first)
    until(lambda: gpus.instance.job(first)['state'] == 'CANCELLED', 'the end')
    until(lambda: gpus.host()['gpus'] == 1, 'one GPU less')
    assert gpus.instance.job(third)['state'] == 'PENDING'
    gpus.nvidia(gpu(0), gpu(1))
    until(lambda: gpus.instance.job(third)['state'] == 'COMPLETED', 'the GPU to be back')
    assert gpus.values('state') == ['up', 'up'] and gpus.fault() == ''


def test_numbers_stay_over_a_restart_while_a_job_has_a_gpu(gpus):
    gpus.nvidia(gpu(0), gpu(1), gpu(2))
    gpus.start()
    blocker, _ = gpus.sleeper('-G', '1')
    job, _ = gpus.sleeper('-G', '1')
    gpus.instance.good('cancel', blocker)
    until(lambda: gpus.values('job') == [None, str(job), None], 'the end of the first job')
    os.kill(gpus.daemon(), signal.SIGKILL)
    gpus.nvidia(gpu(1), gpu(2))  # GPU 0 is gone meanwhile
    until(lambda: gpus.instance.run('start').status == 0, 'the next daemon')
    until(lambda: gpus.instance.job(job)['state'] == 'RUNNING', 'the job')
    assert gpus.values('uuid') == [uuid(0), uuid(1), uuid(2)]
    assert gpus.values('state') == ['drained', 'up', 'up'] and gpus.values('job') == [None, str(job), None]
    seen = gpus.environment('-G', '1')
    assert seen == {'CUDA_VISIBLE_DEVICES': uuid(2), 'FAIRLEAD_GPU_IDS': '2'}
    gpus.instance.good('cancel', job)
    until(lambda: gpus.values('job') == [None] * 3, 'the end of the job')
    gpus.instance.good('stop')
    gpus.start()
    assert gpus.values('uuid') == [uuid(1), uuid(2)]  # no job has one: they are numbered anew


def test_processes_are_those_of_jobs_or_of_none(gpus):
    gpus.nvidia(gpu(0), gpu(1))
    gpus.start()
    job, pid = gpus.sleeper('-G', '1')
    gpus.nvidia(gpu(0, processes='%d:512' % pid), gpu(1, processes='%d:256' % os.getpid()))
    until(lambda: gpus.values('used_by') == [str(job), None], 'the process of the job')
    outside = gpus.values('outside')
    assert outside[0] is None and outside[1].endswith(':%d' % os.getpid())
    assert 'GPU 1 used by 1 process without a job' in gpus.fault()
    gpus.nvidia(gpu(0), gpu(1))
    until(lambda: gpus.values('outside') == [None, None], 'the end of the use')
    assert gpus.fault() == ''


def test_gpus_in_use_without_a_job_are_kept_back_by_setting(gpus):
    gpus.nvidia(gpu(0, processes='%d:256' % os.getpid()), gpu(1))
    gpus.start()
    until(lambda: gpus.values('outside')[0], 'the use without a job')
    assert gpus.values('state') == ['up', 'up']
    assert gpus.environment('-G', '1')['FAIRLEAD_GPU_IDS'] == '0'  # report: it is only said
    gpus.instance.good('set', 'gpu_outside=keep_back')
    assert gpus.values('state') == ['kept_back', 'up'] and 'kept back' in gpus.fault()
    assert gpus.environment('-G', '1')['FAIRLEAD_GPU_IDS'] == '1'
    both = gpus.instance.submit('-G', '2', '--', 'true')  # as many as there are: it is accepted, and waits
    assert gpus.instance.job(both)['state'] == 'PENDING'
    gpus.nvidia(gpu(0), gpu(1))
    until(lambda: gpus.instance.job(both)['state'] == 'COMPLETED', 'the GPU to be given')
    assert '3' in gpus.instance.bad('submit', '-G', '3', '--', 'true', status=2)


def test_records_of_processes_of_either_length_are_read(gpus):
    """Some drivers of the release 535 write 32 bytes for a process, others 24."""
    gpus.nvidia('long', gpu(0, processes='%d:256,%d:1' % (os.getpid(), os.getppid())))
    gpus.start()
    pids = until(lambda: gpus.values('outside')[0], 'the processes')
    assert [int(item.split(':')[1]) for item in pids.split(',')] == [os.getpid(), os.getppid()]


def test_a_library_that_hangs_blocks_nothing(gpus):
    gpus.nvidia(gpu(0), gpu(1))
    gpus.start()
    gpus.instance.good('set', 'gpu_timeout_s=1')
    probe = gpus.probes()[0]
    gpus.nvidia(gpu(0), gpu(1), 'hang')
    until(lambda: 'the driver hangs' in gpus.fault(), 'the hang to be seen')
    assert 'the driver hangs' in gpus.instance.good('status')
    assert gpus.values('state') == ['up', 'up']  # what was known stays
    assert gpus.environment('-G', '1')['FAIRLEAD_GPU_IDS'] == '0'
    until(lambda: probe not in gpus.probes(), 'the end of the process that hangs')
    gpus.nvidia(gpu(0), gpu(1, busy=9))
    until(lambda: gpus.fault() == '' and gpus.values('busy_percent') == [0, 9], 'the next process')


def test_a_library_that_hangs_at_the_start_blocks_nothing(gpus):
    gpus.nvidia('hang', gpu(0))
    gpus.start()
    gpus.instance.good('set', 'gpu_timeout_s=1')
    gpus.instance.submit('--wait', '--', 'true')
    until(lambda: 'the driver hangs' in gpus.fault(), 'the hang to be seen')
    gpus.nvidia(gpu(0))
    until(lambda: gpus.values('uuid') == [uuid(0)] and gpus.host()['gpus'] == 1, 'the GPU')


def test_a_library_that_crashes_is_tried_again(gpus):
    gpus.nvidia(gpu(0))
    gpus.start()
    gpus.nvidia(gpu(0), 'crash')
    until(lambda: 'crashed' in gpus.fault(), 'the crash')
    assert gpus.values('state') == ['up']
    gpus.nvidia(gpu(0), gpu(1))
    until(lambda: gpus.fault() == '' and gpus.values('uuid') == [uuid(0), uuid(1)], 'the next process')


def test_a_driver_that_is_not_loaded_is_said(gpus):
    gpus.nvidia('fail|9')
    gpus.start()
    assert 'nvidia: nvmlInit_v2: Driver Not Loaded' in gpus.fault()
    assert gpus.rows() == []
    gpus.nvidia(gpu(0))
    until(lambda: gpus.values('uuid') == [uuid(0)], 'the driver')


def test_the_process_that_looks_ends_with_the_daemon(gpus):
    gpus.nvidia(gpu(0), 'hang')
    gpus.start()
    gpus.instance.good('set', 'gpu_timeout_s=600')
    probes = until(gpus.probes, 'the process')
    os.kill(gpus.daemon(), signal.SIGKILL)
    until(lambda: not any(os.path.exists('/proc/%d' % pid) and 'Z' not in open('/proc/%d/stat' % pid).read().split()[2:3] for pid in probes),
          'its end')
