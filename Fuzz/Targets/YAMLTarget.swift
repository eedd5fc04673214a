import DavitYAML

/// Configuration files: the tree is as small as the file, no key occurs twice, and everything has a place in the file.
func fuzzYAML(_ input: [UInt8]) {
    let document = YAMLDocument(parsing: input)
    invariant(document.problems.count <= YAMLLimits.problems, "bounded problems")
    let lineCount = input.reduce(1) {
        $0 + ($1 == 10 || $1 == 13 || $1 == 0x85 || $1 == 0xA8 || $1 == 0xA9 ? 1 : 0)
    }
    var nodes = [document.root].compactMap { node in node.map { (node: $0, depth: 1) } }
    var count = 0
    while let (node, depth) = nodes.popLast() {
        count += 1
        invariant(depth <= YAMLLimits.depth + 1, "bounded depth")
        invariant(node.position.line >= 1 && node.position.line <= lineCount + 1, "a line of the file")
        switch node.content {
        case .scalar, .invalid: break
        case .sequence(let items): nodes += items.map { ($0, depth + 1) }
        case .mapping(let members):
            invariant(Set(members.map(\.key)).count == members.count, "distinct keys")
            nodes += members.map { ($0.value, depth + 1) }
        }
    }
    invariant(count <= YAMLLimits.nodes, "bounded nodes")
    invariant(count <= 2 * input.count + 2, "no node from nothing")
}
