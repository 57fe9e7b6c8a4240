# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Where the model's rules come from: each function that decides something has @rule for each rule, with
its sources; one that only keeps books has @books. missing() says what has neither.

A source is one of
  card FACT               a check of tests/cards (cards.h, facts.h): measured, unless its own source is inferred
  linux FILE FUNC()       Linux 6.1: the cards' driver, the core, or another implementation (rxe, rdmavt, hfi1)
  rdma-core FILE FUNC()   libibverbs or libmlx5
  man PAGE
  IBA CLAUSE              the specification
  inferred WHY            from other rules, or known to the engine's author alone
The first kind in this order that a rule has decides under which it counts.
"""
import ast
import inspect
import os
import re
import textwrap

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KINDS = ('measured', 'kernel', 'library', 'man page', 'specification', 'inferred')
FORMS = {
    'card': r'\w+', 'linux': r'\w+\.[ch] \w+\(\)', 'rdma-core': r'\w+\.[ch] \w+\(\)', 'man': r'\w+',
    'IBA': r'(A?[0-9]+(\.[0-9]+)*|C[0-9]+-[0-9]+|table [0-9-]+|figure [0-9]+)', 'inferred': r'(from|:) ?.+',
}
RULES = {}  # name of a function or table: [(what, sources)]
# Words of a function that its rules must name: statuses of completions, events, errors of calls.
ANSWERS = {'LOC_LEN', 'LOC_QP_OP', 'LOC_PROT', 'FLUSH', 'MW_BIND', 'LOC_ACCESS', 'REM_INV_REQ', 'REM_ACCESS',
           'REM_OP', 'RETRY_EXC', 'RNR_EXC', 'WAIT', 'DROP', 'SQE', 'QP_REQ_ERR', 'QP_ACCESS_ERR', 'COMM_EST',
           'QP_LAST_WQE_REACHED', 'SRQ_LIMIT_REACHED'}


def rule(what, *sources):
    def wrap(f):
        named(f.__name__, what, *sources)
        return f
    return wrap


def named(name, what, *sources):
    """A rule of a table. Decorators run from the last to the first: the first one comes first."""
    RULES.setdefault(name, []).insert(0, (what, sources))


def books(f):
    """It decides nothing that an adapter decides."""
    RULES.setdefault(f.__name__, [])
    return f


def facts():
    """{name: source} of tests/cards"""
    found = {}
    for name in ('cards.h', 'facts.h'):
        with open(os.path.join(TESTS, 'cards', name), encoding='utf-8') as f:
            found.update(re.findall(r'\bX\((\w+),\s+"([^"]*)"', f.read()))
    return found


def split(source):
    """Its first word, which is one of FORMS, and the rest."""
    return re.fullmatch(r'([\w-]*) ?(.*)', source).groups()


def kind(sources, known):
    """The number in KINDS of the best source."""
    def one(source):
        word, rest = split(source)
        if word == 'card':
            return 5 if re.search(r'(^|; )inferred( from .*)?$', known[rest]) else 0
        return {'linux': 1, 'rdma-core': 2, 'man': 3, 'IBA': 4, 'inferred': 5}[word]
    return min(map(one, sources))


def wrong_sources(known):
    for name, rules in RULES.items():
        for what, sources in rules:
            if not sources:
                yield f'{name}: no source of "{what}"'
            for s in sources:
                word, rest = split(s)
                if not re.fullmatch(FORMS.get(word, '(?!)'), rest) or word == 'card' and rest not in known:
                    yield f'{name}: what is "{s}"?'


def words(f):
    """The names and texts of a function's body that are in ANSWERS."""
    body = ast.parse(textwrap.dedent(inspect.getsource(f))).body[0]
    for node in ast.walk(ast.Module(body.body, [])):
        word = node.id if isinstance(node, ast.Name) else node.value if isinstance(node, ast.Constant) else None
        if isinstance(word, str) and word in ANSWERS:
            yield word


def missing(classes, modules):
    """What lacks a rule: functions of classes, their answers, tables of modules; and sources that are none."""
    out = list(wrong_sources(facts()))
    for c in classes:
        for name, member in vars(c).items():
            f = member.__func__ if isinstance(member, staticmethod) else member
            if not inspect.isfunction(f) or name == '__init__':
                continue
            if name not in RULES:
                out.append(f'{c.__name__}.{name}: neither a rule nor @books')
            said = ' '.join(what for what, _ in RULES.get(name, ()))
            out += [f'{c.__name__}.{name}: no rule names {w}' for w in sorted(set(words(f)))
                    if not re.search(rf'\b{w}\b', said)]
    for m in modules:
        out += [f'{m.__name__}.{name}: a table without a rule' for name, value in vars(m).items()
                if name.isupper() and isinstance(value, (dict, set)) and name not in RULES]
    return out


def in_tree(trees):
    """Sources that these folders (of Linux and rdma-core) do not have."""
    files = {}
    for tree in trees:
        for at, _, names in os.walk(tree):
            for n in names:
                if n.endswith(('.c', '.h')):
                    files.setdefault(n, []).append(os.path.join(at, n))
    for name, rules in RULES.items():
        for s in (s for _, sources in rules for s in sources if s.startswith(('linux ', 'rdma-core '))):
            _, file, func = s.split(' ')
            texts = [open(p, encoding='utf-8', errors='replace').read() for p in files.get(file, ())]
            if not any(re.search(rf'^[a-z].*\b{func[:-2]}\(', t, re.M) for t in texts):
                yield f'{name}: there is no {s}'


def table():
    """Lines: a rule, how it is known, its sources; and the numbers."""
    known = facts()
    count = [0] * len(KINDS)
    for name, rules in RULES.items():
        for what, sources in rules:
            k = kind(sources, known)
            count[k] += 1
            yield f'{name:18} {KINDS[k]:13} {what} | {"; ".join(sources)}'
    yield ', '.join(f'{n} {k}' for n, k in zip(count, KINDS)) + f': {sum(count)} rules'
