# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The rooms of a layer (lines of tools/layers with a slash): which file calls which, and what a change of a header costs.
Calls are read from the objects, so they are looked at after the build.
"""
import os
import re

from . import exports, layers
from .common import read, result, sources

IN_CIRCLE = 12    # files that call each other in a circle, at most
LINES = 300       # of a header in a layer with rooms
REBUILT = 60      # sources of the device that are compiled again after a change of these headers
TOUCHED = ('src/hw/qp.h', 'src/engine/base/base.h')


def calls(found):
    """{file: {called file: symbols}} of the symbols that exports.symbols() has found."""
    home = {s: f for f, (defined, _) in found.items() for s in defined}
    graph = {f: {} for f in found}
    for f, (_, needed) in found.items():
        for s in needed:
            if home.get(s, f) != f:
                graph[f].setdefault(home[s], set()).add(s)
    return graph


def circles(graph):
    """Files that call each other in a circle, the largest circle first: Tarjan's strongly connected components."""
    index, low, stack, out = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in graph[v]:
            if w not in index:
                visit(w)
            if w in stack:
                low[v] = min(low[v], low[w])
        if low[v] == index[v]:
            at = stack.index(v)
            out.append(stack[at:])
            del stack[at:]

    for v in graph:
        if v not in index:
            visit(v)
    return sorted((sorted(c) for c in out), key=len, reverse=True)


def upwards(graph, allowed):
    """Calls to a room that the line of the caller's room does not allow."""
    bad = []
    for f, to in sorted(graph.items()):
        here = layers.room(f[len('src/'):])
        layer = f.split('/')[1]
        for g, names in sorted(to.items()):
            there = layers.room(g[len('src/'):])
            if here and there and here != there and there.split('/')[1] not in layers.below(allowed, here):
                bad.append(f'{f}: {here} may not call {g}: {", ".join(sorted(names))}')
            elif here and not there and g.split('/')[1] == layer:
                bad.append(f'{f}: {here} may not call {g}, which is in no room')
    return bad


def check_calls(build):
    allowed = layers.matrix(read('tools/layers'))[0]
    for layer in sorted({r.split('/')[0] for r in allowed if '/' in r}):
        found = exports.symbols([(s, o) for s, o in exports.objects(build) if s.split('/')[1] == layer])
        graph = calls(found)
        largest = circles(graph)[0] if graph else []
        bad = upwards(graph, allowed)
        if len(largest) > IN_CIRCLE:
            bad.append(f'{len(largest)} files call each other in a circle: ' + ' '.join(largest))
        result(f'rooms: {layer}: of {len(graph)} files at most {len(largest)} call each other in a circle, '
               f'{IN_CIRCLE} may', bool(graph) and not bad, '\n'.join(bad))


def rebuilt(header, files):
    """Sources of the device, tests apart, that include the header, perhaps by way of others."""
    texts = {f: [m.group(1) for line in read(f).splitlines() if (m := layers.INCLUDE.match(line))] for f in files}
    reached, more = {header}, True
    while more:
        more = {f for f, names in texts.items() if f not in reached and
                any('src/' + n in reached or os.path.join(os.path.dirname(f), n) in reached for n in names)}
        reached |= more
    return sorted(f for f in reached if f.endswith('.c') and not layers.is_test(f))


def check_headers():
    files = sources(('.c', '.h'), ('src',))
    with_rooms = {r.split('/')[0] for r in layers.matrix(read('tools/layers'))[0] if '/' in r}
    bad = [f'{f}: {n} lines' for f in files
           if f.endswith('.h') and f.split('/')[1] in with_rooms and not layers.is_test(f) and
           (n := read(f).count('\n')) > LINES]
    result(f'rooms: no header has more than {LINES} lines', not bad, '\n'.join(bad))
    for header in TOUCHED:
        n = len(rebuilt(header, files))
        result(f'rooms: {n} sources include {header}, fewer than {REBUILT} may', 0 < n < REBUILT)
