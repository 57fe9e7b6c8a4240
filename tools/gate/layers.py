# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The includes of src/ against the edges that tools/layers allows."""
import os
import re

from .common import read, result, sources

INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


def matrix(text):
    """
    Layer to the layers or headers that it and that only its tests may include, in the order of the lines; layer/room to
    rooms of that layer; what is wrong.
    """
    allowed, tests, bad = {}, {}, []
    for n, line in enumerate(text.splitlines(), 1):
        line = line.split('#')[0].strip()
        if not line:
            continue
        layer, colon, rest = line.partition(':')
        if not colon or layer in allowed:
            bad.append(f'tools/layers:{n}: {"a second line for " + layer if colon else "no colon"}')
            continue
        rest, _, extra = rest.partition('+')
        allowed[layer], tests[layer] = rest.split(), extra.split()
        within = layer.split('/')[0] + '/' if '/' in layer else ''
        bad += [f'tools/layers:{n}: {layer} may not include {to}: no line above is for it'
                for to in allowed[layer]
                if (within + to if within else to.split('/')[0]) not in list(allowed)[:-1]]
        if len(set(allowed[layer])) < len(allowed[layer]):
            bad.append(f'tools/layers:{n}: a layer or header stands there twice')
    return allowed, tests, bad


def edges(files):
    """(file, line, layer, included path) of each include that leaves its layer, tests apart."""
    found = []
    for f in files:
        layer = f.split('/')[1]
        for n, line in enumerate(read(f).splitlines(), 1):
            m = INCLUDE.match(line)
            if m and '/' in m.group(1) and m.group(1).split('/')[0] != layer:
                found.append((f, n, layer, m.group(1)))
    return found


def room(path):
    """layer/room of the path of a file or an include; None: it is in no room."""
    return path.rpartition('/')[0] if path.count('/') == 2 else None


def below(allowed, here):
    """The rooms that a room may use: those that its line names, and those that these may use."""
    names = set(allowed.get(here, ()))
    return names.union(*(below(allowed, f"{here.split('/')[0]}/{r}") for r in names))


def room_problems(allowed, files):
    """A room includes those below it, and headers of its layer that are in no room."""
    rooms = [r for r in allowed if '/' in r]
    with_rooms = {r.split('/')[0] for r in rooms}
    bad, used, there = [], set(), set()
    for f in files:
        layer, here = f.split('/')[1], room(f[len('src/'):])
        if layer not in with_rooms or is_test(f):
            continue
        there.add(here)
        if here and here not in allowed:
            bad.append(f'tools/layers: no line for src/{here}')
        if not here and f.endswith('.c'):
            bad.append(f'{f}: is in no room of its layer')
        for n, line in enumerate(read(f).splitlines(), 1):
            m = INCLUDE.match(line)
            to = room(m.group(1)) if m and m.group(1).startswith(layer + '/') else None
            if not to or to == here:
                continue
            used.add((here, to.split('/')[1]))
            if not here or to.split('/')[1] not in below(allowed, here):
                bad.append(f'{f}:{n}: {here or "what is in no room"} may not include {m.group(1)} (tools/layers)')
    bad += [f'tools/layers: {r}: there is no such folder' for r in rooms if r not in there]
    bad += [f'tools/layers: {r} does not include {to} any more: take it out'
            for r in rooms if r in there for to in allowed[r] if (r, to) not in used]
    return bad


def problems(text, files):
    allowed, tests, bad = matrix(text)
    bad += room_problems(allowed, files)
    order = [layer for layer in allowed if '/' not in layer]
    used = set()
    for f, n, layer, path in edges(files):
        to = path.split('/')[0]
        if layer not in allowed:
            continue
        if is_test(f):
            ok = to in order and layer != 'devx' and (
                order.index(to) < order.index(layer) or to in tests[layer])
        else:
            ok = to in allowed[layer] or path in allowed[layer]
            used |= {(layer, to), (layer, path)}
        if not ok:
            bad.append(f'{f}:{n}: {layer} may not include {path} (tools/layers)')
    folders = {f.split('/')[1] for f in files}
    bad += [f'tools/layers: no line for src/{d}' for d in sorted(folders - set(order))]
    bad += [f'tools/layers: {d}: there is no such folder' for d in order if d not in folders]
    bad += [f'tools/layers: {layer} does not include {to} any more: take it out'
            for layer, row in allowed.items() for to in row
            if layer in folders and (layer, to) not in used]
    return bad


def is_test(path):
    return os.path.basename(path).startswith(('test_', 'test.'))


def check_layering():
    files = sources(('.c', '.h', '.S'), ('src',))
    bad = problems(read('tools/layers'), files)
    result('layering: includes are those of tools/layers', not bad, '\n'.join(bad))
    # What users build would need cmocka.
    bad = [f'{f}:{n}: includes {m.group(1)}' for f in files if not is_test(f)
           for n, line in enumerate(read(f).splitlines(), 1)
           if (m := INCLUDE.match(line)) and is_test(m.group(1))]
    result('layering: only tests include headers of tests', not bad, '\n'.join(bad))


def check_heap():
    """A signal handler that interrupted malloc may call the device: see util/heap.h."""
    bad = []
    for f in sources(('.c',), ('src/uverbs', 'src/mlx5')):
        if not os.path.basename(f).startswith('test_'):
            bad += [f'{f}:{n}: {line.strip()}' for n, line in enumerate(read(f).splitlines(), 1)
                    if re.search(r'(?<![\w.>])(malloc|calloc|realloc|free|strdup)\(', line)]
    result('layering: uverbs and drivers allocate by util/heap.h', not bad, '\n'.join(bad))


CALL = re.compile(r'(?<![\w.>])(sys_(?!fd_|is_|cpu_)\w+|syscall|fcntl|ioctl)\s*\(')
CANNOT_FAIL = re.compile(r'sys_getpid\(|\w+\(SYS_(getpid|getppid|gettid|gete?[ug]id|brk)\b')
OPERATOR = re.compile(r'\s*([&|](?![&|])|[-+*/%^]|<<|>>)')
COMMENT = re.compile(r'/\*.*?\*/', re.DOTALL)


def end_of(text, at):
    """The place behind the bracket that ends the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == '(') - (text[i] == ')')
        if not depth:
            return i + 1
    return len(text)


def operands(text):
    """The lines on which a system call's result is an operand before its sign has been looked at."""
    text = COMMENT.sub(lambda m: re.sub('.', ' ', m[0]), text)
    return [text.count('\n', 0, m.start()) + 1 for m in CALL.finditer(text)
            if not CANNOT_FAIL.match(text, m.start())
            and OPERATOR.match(text, end_of(text, m.end() - 1))]


def check_results():
    """-EBADF & O_DIRECT is not 0: a failed call has every bit that is asked for."""
    bad = []
    for f in sources(('.c', '.h'), ('src',)):
        if not os.path.basename(f).startswith('test_'):
            bad += [f'{f}:{n}: look at the sign first' for n in operands(read(f))]
    result('layering: no failed call is an operand', not bad, '\n'.join(bad))
