#!/usr/bin/env python3
"""Checks that references between the folders of a target, imports of targets, and imports of the page's scripts form no cycle.

A folder refers to another folder of its target if its code names a type that is declared there, or calls a free function or
uses a member of an extension that is declared only there. Names are matched by scope, without type inference: a member
whose name is also declared elsewhere in the target, or in an imported target, is ignored. Files directly in the folder of
the target belong to the folder ".".

scripts/structure-allowed.txt lists the references that are tolerated although they are part of a cycle or forbidden. Any other
such reference, and an entry that is no longer needed, is an error.

    check-structure.py                  prints one error per line; exits with status 1 if there are any
    check-structure.py --report [NAME]  prints each cycle with its references, fewest first, and which ones to remove
    check-structure.py --write-allowed  regenerates the list
    check-structure.py --self-test      tests this script with planted errors
"""
import collections
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True

from sourcetext import Lines, split_javascript  # noqa: E402
from swiftnames import ROOT, read_allowed, swift_files, write_allowed  # noqa: E402

ALLOWED = "scripts/structure-allowed.txt"
HEADING = """
References between folders, targets and scripts that are tolerated for now, although they are part of a cycle or forbidden.
Written by `scripts/check-structure.py --write-allowed`; `--report` shows what to remove first. The list only shrinks.
"""
# Imports that are wrong even without a cycle.
FORBIDDEN_IMPORTS = {("DavitSite", "DavitPage")}
PAGE_SCRIPTS = "Sources/DavitPage/Files"
IMPORTS, STATIC, DYNAMIC = "imports", "scripts", "scripts with dynamic imports"

# Members that the standard library also has: a use of such a name does not show where it is declared.
STANDARD_MEMBERS = set("""
    add advanced all allSatisfy append base begin bytes cancel cancelled clear close compactMap contains control copyBytes
    count current custom decode deallocate description detach distance drop dropFirst dropLast element elements encode end
    endIndex enqueue enumerated error escaped exchange failure filter find finish first firstElement firstIndex flags
    flatMap forEach hasPrefix hasSuffix hash identity index indices initialize insert isASCII isEmpty isExact isSigned
    isUTF8 isWhitespace join joined key keys last length load lowercased make map max measure member merge method min
    nanoseconds next now offset open peek place popLast prefix priority properties ranges rawValue read record reduce
    remove removeAll removeFirst removeLast replace reserveCapacity reset result resume reversed run size sleep sort sorted
    span split start startIndex starts step store stream string subtracting suffix suspend swapAt take target text union
    uppercased url utf8 value values version withLock withSpan withUnsafeBytes withValue write yield zip
    """.split())

Reference = collections.namedtuple("Reference", "place name")


def components(edges):
    """Returns the strongly connected components of more than one node, sorted by name."""
    following = collections.defaultdict(set)
    for source, target in edges:
        following[source].add(target)

    def reachable(node):
        seen, waiting = set(), [node]
        while waiting:
            for other in following[waiting.pop()]:
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return seen

    reach = {node: reachable(node) for node in list(following)}
    found, placed = [], set()
    for node in sorted(reach):
        if node in placed or node not in reach[node]:
            continue
        component = {other for other in reach[node] if node in reach.get(other, ())}
        placed |= component
        if len(component) > 1:
            found.append(component)
    return found


def cyclic_edges(edges):
    """Returns the edges inside components."""
    found = set()
    for component in components(edges):
        found |= {(source, target) for source, target in edges if source in component and target in component}
    return found


def way_back(edges, source, target):
    """Returns the shortest path from `target` to `source`."""
    ways, waiting = {target: [target]}, collections.deque([target])
    while waiting:
        node = waiting.popleft()
        if node == source:
            return ways[node]
        for start, end in sorted(edges):
            if start == node and end not in ways:
                ways[end] = ways[node] + [end]
                waiting.append(end)
    return []


def target_imports(files):
    targets = {file.target for file in files}
    edges = collections.defaultdict(list)
    for file in files:
        for module, offset in file.imports:
            if module in targets and module != file.target:
                edges[file.target, module].append(Reference(file.at(offset), module))
    return edges


def folder_references(files, imports):
    """Returns the references between each pair of folders, by target."""
    by_target = collections.defaultdict(list)
    for file in files:
        by_target[file.target].append(file)
    direct = collections.defaultdict(set)
    for source, target in imports:
        direct[source].add(target)

    def all_imported(target):
        seen, waiting = set(), [target]
        while waiting:
            for other in direct[waiting.pop()] - seen:
                seen.add(other)
                waiting.append(other)
        return seen

    graphs = {}
    for target, own in sorted(by_target.items()):
        if len({file.folder for file in own}) < 2:
            continue
        graphs[target] = edges = collections.defaultdict(list)
        folders = collections.defaultdict(set)
        for file in own:
            for declaration in file.types:
                if not declaration.is_local:
                    folders[declaration.full].add(file.folder)
        members = _unambiguous(own, [file for other in all_imported(target) for file in by_target[other]])
        for file in own:
            for use in file.uses:
                full = _resolve(use, folders, target)
                if full is not None and file.folder not in folders[full]:
                    for folder in folders[full]:
                        edges[file.folder, folder].append(Reference(file.at(use.offset), full))
            for name, dotted, called, offset in file.calls:
                found = members.get(name)
                if found is None or found[0] == file.folder:
                    continue
                folder, kind, place = found
                if (called if kind == "func" else dotted) and (place == "extension" or not dotted):
                    edges[file.folder, folder].append(Reference(file.at(offset), f"{name}{'()' if kind == 'func' else ''}"))
    return graphs


def _unambiguous(own, imported):
    """Returns the folders of functions and extension members whose names are declared once in the target and its imports."""
    declared, in_functions = collections.defaultdict(set), set()
    for file in own:
        for kind, name, place, _ in file.members:
            if place == "local":
                in_functions.add(name)
            else:
                declared[name].add((file.folder, kind, place))
    for file in imported:
        for _, name, place, _ in file.members:
            if place != "local" and name in declared:
                declared[name].add((None, None, None))
    found = {name: places.pop() for name, places in declared.items() if len(places) == 1 and name not in STANDARD_MEMBERS}
    # A local value hides a free function with the same name.
    return {name: value for name, value in found.items()
            if value[2] == "extension" or value[2] == "free" and name not in in_functions}


def _resolve(use, known, target):
    """Returns the full name of the type that a use refers to, if the target declares it."""
    parts = use.name.split(".")
    if parts[0] == target and len(parts) > 1:
        parts = parts[1:]
    scope = use.scope.split(".") if use.scope else []
    if parts[0] == "Self" and scope:
        parts = scope + parts[1:]
        return ".".join(parts) if len(use.name.split(".")) > 1 and ".".join(parts) in known else None
    name = ".".join(parts)
    for length in range(len(scope), -1, -1):
        full = ".".join(scope[:length] + [name])
        if full in known:
            return full
    return None


STATIC_IMPORT = re.compile(r"(?m)^[ \t]*(?:import|export)\b[^;'\"`()]*?[\"']([^\"'\n]+)[\"']")
DYNAMIC_IMPORT = re.compile(r"\bimport\(\s*[\"']([^\"'\n]+)[\"']")


def script_imports(root):
    """Returns the static imports of the page's scripts, and all imports."""
    folder = root / PAGE_SCRIPTS
    static, every = collections.defaultdict(list), collections.defaultdict(list)
    for path in sorted(folder.rglob("*.js")):
        text = path.read_text(encoding="utf-8")
        # Keep strings, because they name the modules.
        code = text
        for comment in split_javascript(text).comments:
            code = code[:comment.start] + re.sub(r"[^\n]", " ", comment.text) + code[comment.end:]
        lines = Lines(code)
        name = path.relative_to(folder).as_posix()
        for pattern, graphs in ((STATIC_IMPORT, (static, every)), (DYNAMIC_IMPORT, (every,))):
            for match in pattern.finditer(code):
                if not match.group(1).startswith("."):
                    continue
                module = (path.parent / match.group(1)).resolve()
                if not module.is_relative_to(folder.resolve()):
                    continue
                imported = module.relative_to(folder.resolve()).as_posix()
                place = f"{path.relative_to(root).as_posix()}:{lines.number(match.start(1))}"
                for graph in graphs:
                    graph[name, imported].append(Reference(place, f"{'import()' if pattern is DYNAMIC_IMPORT else 'import'}"))
    return static, every


def graphs_of(root):
    """Returns the graphs by name: pairs of nodes with the references between them."""
    files = swift_files(root)
    imports = target_imports(files)
    graphs = {name: dict(edges) for name, edges in folder_references(files, imports).items()}
    graphs[IMPORTS] = dict(imports)
    static, every = script_imports(root)
    graphs[STATIC], graphs[DYNAMIC] = dict(static), dict(every)
    return graphs


def violations(graphs):
    """Returns the edges of each graph that need an entry in the list."""
    found = {name: cyclic_edges(edges) for name, edges in graphs.items()}
    found[IMPORTS] |= FORBIDDEN_IMPORTS & set(graphs[IMPORTS])
    # Report a cycle of static imports only once.
    found[DYNAMIC] -= found[STATIC]
    return found


def entry(graph, edge):
    return f"{graph}: {edge[0]} -> {edge[1]}"


def names_of(references, limit=4):
    counts = collections.Counter(reference.name for reference in references).most_common()
    text = ", ".join(f"{name} {count}" if count > 1 else name for name, count in counts[:limit])
    return text + (f" and {len(counts) - limit} more" if len(counts) > limit else "")


def findings(graphs, allowed):
    found, needed = [], set()
    for graph, edges in violations(graphs).items():
        for edge in sorted(edges):
            needed.add(entry(graph, edge))
            if entry(graph, edge) in allowed:
                continue
            references = graphs[graph][edge]
            back = way_back(graphs[graph], *edge)
            reason = f"a cycle: {' -> '.join([edge[0], *back])}" if back else "a forbidden import"
            count = f"{len(references)} reference{'s' if len(references) != 1 else ''}"
            found.append(f"{references[0].place}: {graph}: {edge[0]} refers to {edge[1]} ({count}: {names_of(references)}), "
                         f"{reason}")
    found += [f"{ALLOWED}:{number}: '{text}' is no longer needed; remove it"
              for text, number in allowed.items() if text not in needed]
    return found


def cheapest_order(component, edges):
    """Returns an order of the nodes in which as few references as possible lead to a later node."""
    nodes = sorted(component)
    weight = {pair: len(references) for pair, references in edges.items()}
    if len(nodes) <= 15:
        out = [[weight.get((source, target), 0) for target in nodes] for source in nodes]
        best = {0: (0, None)}
        everything = (1 << len(nodes)) - 1
        for chosen in range(everything):
            cost = best[chosen][0]
            rest = [index for index in range(len(nodes)) if not chosen >> index & 1]
            for index in rest:
                price = cost + sum(out[index][other] for other in rest)
                after = chosen | 1 << index
                if after not in best or price < best[after][0]:
                    best[after] = (price, index)
        order, chosen = [], everything
        while chosen:
            index = best[chosen][1]
            order.append(nodes[index])
            chosen ^= 1 << index
        return order[::-1]

    def price(order):
        position = {node: index for index, node in enumerate(order)}
        return sum(count for (source, target), count in weight.items()
                   if source in position and target in position and position[target] > position[source])

    order, improved = nodes, True
    while improved:
        improved = False
        for node in nodes:
            rest = [other for other in order if other != node]
            best = min((rest[:index] + [node] + rest[index:] for index in range(len(rest) + 1)), key=price)
            if price(best) < price(order):
                order, improved = best, True
    return order


def report(graphs, only):
    wrong = violations(graphs)
    for graph, edges in graphs.items():
        if only is not None and graph != only or not wrong[graph]:
            continue
        for edge in sorted(FORBIDDEN_IMPORTS & set(edges)) if graph == IMPORTS else []:
            print(f"{graph}: {edge[0]} -> {edge[1]} is forbidden: {len(edges[edge])}, {edges[edge][0].place}")
        for component in components(edges):
            inner = {edge: references for edge, references in edges.items() if set(edge) <= component and edge[0] != edge[1]}
            total = sum(map(len, inner.values()))
            print(f"{graph}: a cycle of {len(component)}, {len(inner)} edges, {total} references")
            order = cheapest_order(component, inner)
            position = {node: index for index, node in enumerate(order)}
            print(f"  order with the fewest references to remove: {' <- '.join(order)}")
            for title, upward in (("to remove", True), ("to keep", False)):
                rows = [(len(references), edge) for edge, references in inner.items()
                        if (position[edge[1]] > position[edge[0]]) == upward]
                print(f"  {title}: {len(rows)} edges, {sum(count for count, _ in rows)} references")
                for count, edge in sorted(rows):
                    example = inner[edge][0]
                    print(f"    {count:4}  {edge[0]} -> {edge[1]}   {example.place} {example.name}   [{names_of(inner[edge])}]")
                    if upward:
                        # Often, moving a file or a declaration to another folder is sufficient.
                        files = collections.Counter(reference.place.split(":")[0].rsplit("/", 1)[-1] for reference in inner[edge])
                        print(f"          in {', '.join(f'{name} {number}' for name, number in files.most_common())}")


def self_test():
    def tree(files):
        folder = tempfile.TemporaryDirectory()
        for name, text in files.items():
            path = pathlib.Path(folder.name) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return folder

    failed = []

    def expect(title, files, wanted, allowed=()):
        with tree(files) as root:
            found = findings(graphs_of(pathlib.Path(root)), {text: 1 for text in allowed})
        places = sorted(line.split(": ")[0] for line in found)
        if places != sorted(wanted):
            failed.append(f"{title}: expected {wanted}, found {found}")

    one, two = "Sources/Alpha/One/One.swift", "Sources/Alpha/Two/Two.swift"
    expect("a cycle of types", {one: "struct A {\n  var b: B\n}", two: "struct B {}\nlet a: A?"}, [f"{one}:2", f"{two}:2"])
    expect("an allowed cycle", {one: "struct A { var b: B }", two: "struct B { var a: A? }"}, [],
           ["Alpha: One -> Two", "Alpha: Two -> One"])
    expect("entries that are not needed", {one: "struct A { var b: B }", two: "struct B {}"}, [f"{ALLOWED}:1"],
           ["Alpha: One -> Two"])
    expect("references one way", {one: "struct A { var b: B }", two: "struct B {}"}, [])
    expect("names in comments and strings are ignored", {
        one: "struct A { var b: B }", two: '// A\n/* A /* A */ A */\nstruct B { let s = "A \\\\(A)" + #"A \\(A)"# + """\n  A\n  """ }'}, [])
    expect("names in interpolations", {
        one: "struct A { var b: B }", two: 'struct B { let s = "\\("\\(A.self)")" }'}, [f"{one}:1", f"{two}:1"])
    expect("nested types of extensions", {
        one: "struct A {}\nlet inner: A.Inner?", two: "extension A { struct Inner {} }"}, [f"{one}:2", f"{two}:1"])
    expect("a nested type hides another one", {
        one: "struct A {}\nlet b: B?", two: "struct B { struct A {}\n  let a: A\n  let own: Self.A }"}, [])
    expect("members of extensions", {
        one: "struct A { func f() { settleAll() } }", two: "extension A { func settleAll() {} }"}, [f"{one}:1", f"{two}:1"])
    expect("members that are ambiguous", {
        one: "struct A { func f(_ c: C) { c.settleAll() } }\nstruct C { func settleAll() {} }",
        two: "extension A { func settleAll() {} }"}, [])
    expect("free functions", {one: "func ping() { pong() }", two: "func pong() {}\nfunc third() { ping() }"},
           [f"{one}:1", f"{two}:2"])
    expect("files of the target itself", {"Sources/Alpha/A.swift": "struct A { var b: B }", two: "struct B { var a: A? }"},
           ["Sources/Alpha/A.swift:1", f"{two}:1"])
    expect("three folders", {
        one: "struct A { var b: B }", two: "struct B { var c: C }", "Sources/Alpha/Three/C.swift": "struct C { let a = [A]() }"},
        [f"{one}:1", f"{two}:1", "Sources/Alpha/Three/C.swift:1"])
    expect("targets", {"Sources/Alpha/A.swift": "import Beta", "Sources/Beta/B.swift": "public import Alpha"},
           ["Sources/Alpha/A.swift:1", "Sources/Beta/B.swift:1"])
    expect("forbidden imports", {
        "Sources/DavitSite/A.swift": "internal import DavitPage", "Sources/DavitPage/B.swift": "let b = 1"},
        ["Sources/DavitSite/A.swift:1"])
    page = PAGE_SCRIPTS
    expect("static imports of scripts", {
        f"{page}/a.js": 'import { b } from "./b/b.js"', f"{page}/b/b.js": 'import {\n  a,\n} from "../a.js"\n'},
        [f"{page}/a.js:1", f"{page}/b/b.js:3"])
    expect("dynamic imports of scripts", {
        f"{page}/a.js": 'import "./b.js"\n// import "./c.js"', f"{page}/b.js": 'const a = () => import("./a.js")',
        f"{page}/c.js": 'import "./a.js"'}, [f"{page}/a.js:1", f"{page}/b.js:1"])
    for line in failed:
        print(f"self-test: {line}", file=sys.stderr)
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    graphs = graphs_of(ROOT)
    if not (graphs[IMPORTS] and graphs[STATIC] and len(graphs) > 3):
        print("check-structure.py: nothing was read", file=sys.stderr)
        return 1
    if arguments[:1] == ["--report"] and len(arguments) <= 2:
        report(graphs, arguments[1] if len(arguments) == 2 else None)
        return 0
    if arguments == ["--write-allowed"]:
        entries = [entry(graph, edge) for graph, edges in violations(graphs).items() for edge in sorted(edges)]
        write_allowed(ROOT / ALLOWED, HEADING, entries)
        return 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 64
    found = findings(graphs, read_allowed(ROOT / ALLOWED))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


sys.exit(main(sys.argv[1:]))
