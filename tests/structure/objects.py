"""The object files of the plain build: the source of each, and the names that it defines and uses."""
import functools
import json
import os
import pathlib
import subprocess

BUILD = pathlib.Path(os.environ.get('FAIRLEAD_BUILD', 'build'))


def of_sources():
    """Source file below src/ -> its object. Objects that tests compile for themselves are left out."""
    found = {}
    for command in json.loads((BUILD / 'compile_commands.json').read_text(encoding='utf-8')):
        source = os.path.relpath(os.path.join(command['directory'], command['file']))
        if source.startswith('src/') and not command['output'].startswith(('tests/', 'bench/')):
            found[source] = BUILD / command['output']
    missing = [source for source, path in found.items() if not path.exists()]
    assert found and not missing, 'not built in %s: %s' % (BUILD, ' '.join(missing))
    return found


@functools.cache
def symbols():
    """Source file -> (names that it exports, names that it imports). One nm reads all objects, because a process for each
    takes seconds."""
    sources = {str(path): source for source, path in of_sources().items()}
    out = subprocess.run(['nm', '-A', '-P', '-g', *sources], check=True, capture_output=True, text=True).stdout
    found = {source: (set(), set()) for source in sources.values()}
    for line in out.splitlines():
        path, _, rest = line.partition('.o: ')
        name, kind = rest.split()[:2]
        found[sources[path + '.o']][kind in 'Uw'].add(name)
    return found


def defined():
    return {source: names for source, (names, _) in symbols().items()}


def used():
    return {source: names for source, (_, names) in symbols().items()}
