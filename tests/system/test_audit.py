"""fairlead audit: what was changed, and who did it; it is there after a kill, and is listed as everything else is."""
import getpass
import json
import os
import urllib.parse

from conftest import SocketConnection

ROW = {'seq', 'at_us', 'uid', 'user', 'command', 'name', 'field', 'before', 'after'}


def changes(instance, *arguments):
    rows = instance.json('audit', *arguments)
    return [(row['command'], row['name'], row['field'], row['before'], row['after']) for row in rows]


def test_a_change_is_listed_with_its_author_and_survives_a_kill(instance):
    instance.good('account', 'add', 'physics', '--shares', '70')
    instance.good('set', 'default_mem_mib=77')
    instance.kill()
    instance.start()
    found = instance.json('audit', '--limit', '2')
    assert [set(row) for row in found] == [ROW, ROW]
    assert {(row['uid'], row['user']) for row in found} == {(os.getuid(), getpass.getuser())}
    assert [(row['command'], row['name'], row['field'], row['before'], row['after']) for row in found] == [
        ('account add', 'physics', 'shares', None, '70'), ('set', 'default_mem_mib', None, '256', '77')]
    assert found[0]['seq'] < found[1]['seq'] and found[0]['at_us'] <= found[1]['at_us']


def test_a_refused_change_is_not_listed(instance):
    before = changes(instance)
    instance.bad('set', 'default_cpus=2', 'default_mem_mib=no')
    instance.bad('account', 'delete', 'nothing')
    assert changes(instance) == before


def test_a_filter_by_command_and_name(instance):
    instance.good('account', 'add', 'a')
    instance.good('account', 'add', 'b')
    instance.good('account', 'modify', 'a', '--shares', '5')
    instance.good('set', 'default_mem_mib=77', 'default_cpus=2')
    assert [row[:2] for row in changes(instance, '--command', 'account modify')] == [('account modify', 'a')]
    assert {row[:2] for row in changes(instance, '--name', 'a')} == {('account add', 'a'), ('account modify', 'a')}
    assert [row[4] for row in changes(instance, '--command', 'set', '--name', 'default_cpus')] == ['2']
    assert changes(instance, '--name', "a' OR 1=1") == []
    assert 'no matching changes' in instance.run('audit', '--command', 'none').err + instance.run('audit', '--command', 'none').out


def test_filters_limits_and_forms(instance):
    for shares in range(3, 9):
        instance.good('account', 'add' if shares == 3 else 'modify', 'a', '--shares', str(shares))
    assert [row[4] for row in changes(instance, '--limit', '3')] == ['6', '7', '8']
    assert changes(instance, '--user', 'nobody-else') == []
    assert changes(instance, '--user', getpass.getuser(), '-n', '1') == [('account modify', 'a', 'shares', '7', '8')]
    assert changes(instance, '--since', '4000000000') == []
    assert changes(instance, '--since', '1h') == changes(instance, '--since', 'today')
    assert len(changes(instance, '--until', '4000000000', '--limit', '0')) == len(changes(instance, '--since', 'today'))
    lines = instance.good('audit', '-P', '-n', '1', '-o', 'command,name,field,before,after').splitlines()
    assert lines == ['command|name|field|before|after', 'account modify|a|shares|7|8']
    assert 'AFTER' in instance.good('audit').splitlines()[0]


def test_pages_of_the_api_have_every_entry_once(instance):
    for shares in range(1, 251):
        instance.good('account', 'add' if shares == 1 else 'modify', 'a', '--shares', str(shares))
    connection = SocketConnection(instance.socket)
    whole, pages, before = changes(instance, '--limit', '0'), [], None
    whole_seq = [row['seq'] for row in instance.json('audit', '--limit', '0')]
    while True:
        query = {'limit': 90, **({'before': before} if before else {})}
        connection.request('GET', '/v1/audit?' + urllib.parse.urlencode(query))
        page = json.loads(connection.getresponse().read())['audit']
        if not page:
            break
        pages += [row['seq'] for row in page]
        before = page[-1]['seq']
    assert len(whole) >= 250
    assert pages == whole_seq[::-1]
