# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Each symbol that a file of src/ exports has a user in another file, or is declared in for_tests.h
because only tests use it. What is installed imports none that is newer than the oldest glibc of SUPPORT, nor
one that the headers of a newer glibc replace by one of its own.
"""
import json
import os
import re

from .common import TOP, on_all_cores, read, result, sh, sources

# Num: Value Size Type Bind Vis Ndx Name
SYMBOL = re.compile(r'^ *\d+: [0-9a-f]+ +\S+ +(\S+) +(GLOBAL|WEAK) +(\S+) +(\S+) +([\w.]+)$', re.M)
NOT_OBJECTS = ('SECTION', 'FILE')
# Made by a macro for each row of a list.
ROWS = re.compile(r'layout_\w+|uv_type_\w+|shim_syms')


INSTALLED = ('softhca', 'src/shim/libsofthca.so', 'src/devx/libdevx.so')
# As objdump -T lists what a file imports.
IMPORT = re.compile(r'\*UND\*\s+[0-9a-f]+\s+\(?GLIBC_([0-9.]+)\)?\s+(\w+)$', re.M)
# Those of 2.38 make __isoc23_strtoul() of strtoul(): util/num.h has what replaces them.
REPLACED = re.compile(r'(__isoc\d+_)?(strto(u?l|u?ll|[iu]max)|wcsto(u?l|u?ll|[iu]max)|v?[fs]?w?scanf)')


def is_test(path):
    return not path.startswith('src/') or os.path.basename(path).startswith('test')


def symbols(objects):
    """{source: (hidden symbols that it defines, symbols that it needs)}; a source may have several objects."""
    out = {}
    slices = [objects[i::16] for i in range(16)]
    texts = on_all_cores(lambda some: sh(['readelf', '-sW', *(o for _, o in some)]) if some else None,
                         slices)
    for some, r in zip(slices, texts):
        files = re.split(r'^File: (.*)$', r.stdout, flags=re.M) if len(some) > 1 else \
            ['', some[0][1], r.stdout] if some else ['']
        of = {o: s for s, o in some}
        for name, text in zip(files[1::2], files[2::2]):
            defined, needed = out.setdefault(of[name], (set(), set()))
            for kind, _, vis, ndx, symbol in SYMBOL.findall(text):
                if kind in NOT_OBJECTS:
                    continue
                if ndx == 'UND':
                    needed.add(symbol)
                elif vis == 'HIDDEN':
                    defined.add(symbol)
    return out


def objects(build):
    """The source and the object of each compilation of src/, tests apart, that has been done."""
    top = os.path.join(TOP, build)
    with open(os.path.join(top, 'compile_commands.json'), encoding='utf-8') as f:
        rows = json.load(f)
    found = [(os.path.relpath(os.path.join(top, c['file']), TOP), os.path.join(top, c['output']))
             for c in rows]
    return [(s, o) for s, o in found if not is_test(s) and os.path.exists(o)]


def check_exports(build):
    found = symbols(objects(build))
    # Symbols that other programs call (names in a map may end in a star), and those that only tests call.
    outside = re.compile('|'.join(['main'] + [w.replace('*', r'\w*') for w in re.findall(
        r'\w+\*?', ' '.join(read(f) for f in sources(('for_tests.h', '.map'), ('src',))))]))
    bad = []
    for f, (defined, _) in sorted(found.items()):
        used = set().union(*(needed for g, (_, needed) in found.items() if g != f))
        bad += [f'{f}: {s}: no other file uses it: make it static, or declare it in for_tests.h'
                for s in sorted(defined - used)
                if not ROWS.fullmatch(s) and not outside.fullmatch(s)]
    check_imports(build)
    result('exports: each has a user in another file, or is for tests', not bad, '\n'.join(bad))


def number(version):
    return tuple(int(n) for n in version.split('.'))


def too_new(text, oldest):
    """The symbols that this output of objdump imports from a glibc newer than the oldest, or would if built there."""
    return [f'{symbol} (glibc {v})' for v, symbol in IMPORT.findall(text)
            if number(v) > number(oldest) or REPLACED.fullmatch(symbol)]


def check_imports(build):
    oldest = re.search(r'^\| glibc \| ([0-9.]+) and newer', read('doc/SUPPORT.md'), re.M).group(1)
    bad = []
    for lib in INSTALLED:
        path = os.path.join(TOP, build, lib)
        if not os.path.exists(path):
            continue
        out = sh(['objdump', '-T', path]).stdout
        bad += [f'{lib}: {s}' for s in too_new(out, oldest)] or \
            ([] if IMPORT.search(out) else [f'{lib}: objdump names no import:\n{out}'])
    result(f'exports: what is installed loads with glibc {oldest}', not bad, '\n'.join(bad))
