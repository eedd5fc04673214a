/// A step in the structure of a YAML file.
struct YAMLEvent {
    enum Kind {
        case documentStart
        case scalar(String, isPlain: Bool)
        case sequenceStart, mappingStart, end, alias
    }

    let kind: Kind
    let position: YAMLPosition
    var hasAnchor = false
    var hasTag = false
}

/// Builds the tree of a document from events, with a stack of its own: the depth of a file is not the depth of the
/// program's stack.
struct YAMLBuilder {
    /// A list or mapping whose end has not been read.
    private struct Open {
        let position: YAMLPosition
        let isMapping: Bool
        var items: [YAMLNode] = []
        var members: [YAMLMember] = []
        var keys: Set<String> = []
        /// The key whose value comes next; its text is nil if the key is not usable.
        var key: (text: String?, position: YAMLPosition)?
    }

    private var stack: [Open] = []
    private var documentCount = 0
    private var nodeCount = 0
    private(set) var root: YAMLNode?
    private(set) var problems: [YAMLProblem] = []

    mutating func report(_ problem: YAMLProblem) {
        if problems.count < YAMLLimits.problems { problems.append(problem) }
    }

    /// - Throws: a problem after which the rest of the file is not read.
    mutating func add(_ event: YAMLEvent) throws(YAMLProblem) {
        if case .documentStart = event.kind {
            documentCount += 1
            if documentCount > 1 {
                throw YAMLProblem(event.position, "found a second document: expected one in the file")
            }
            return
        }
        try checkLimits(of: event)
        if event.hasAnchor { report(YAMLProblem(event.position, "anchors are not supported")) }
        if event.hasTag {
            report(
                YAMLProblem(event.position, "tags are not supported: the type of a value is that of its key"))
        }
        switch event.kind {
        case .documentStart: break
        case .scalar(let text, let isPlain):
            add(YAMLNode(content: .scalar(text, isPlain: isPlain), position: event.position))
        case .alias:
            report(YAMLProblem(event.position, "aliases are not supported: repeat the value"))
            add(YAMLNode(content: .invalid, position: event.position))
        case .sequenceStart, .mappingStart:
            let isMapping = if case .mappingStart = event.kind { true } else { false }
            stack.append(Open(position: event.position, isMapping: isMapping))
        case .end: close()
        }
    }

    private mutating func checkLimits(of event: YAMLEvent) throws(YAMLProblem) {
        nodeCount += 1
        guard nodeCount <= YAMLLimits.nodes else {
            throw YAMLProblem(
                event.position, "the file has too many values: expected at most \(YAMLLimits.nodes)")
        }
        switch event.kind {
        case .sequenceStart, .mappingStart:
            guard stack.count < YAMLLimits.depth else {
                throw YAMLProblem(
                    event.position,
                    "lists and mappings are nested too deeply: expected at most \(YAMLLimits.depth) levels")
            }
        default: break
        }
    }

    private mutating func close() {
        guard let open = stack.popLast() else { return }
        add(
            YAMLNode(
                content: open.isMapping ? .mapping(open.members) : .sequence(open.items),
                position: open.position))
    }

    /// Adds a complete value, or a key, to the innermost list or mapping.
    private mutating func add(_ node: YAMLNode) {
        guard let last = stack.indices.last else {
            root = node
            return
        }
        guard stack[last].isMapping else {
            stack[last].items.append(node)
            return
        }
        guard let key = stack[last].key else {
            stack[last].key = (self.key(node, in: last), node.position)
            return
        }
        stack[last].key = nil
        if let text = key.text {
            stack[last].members.append(YAMLMember(key: text, position: key.position, value: node))
        }
    }

    /// Returns the text of a key; reports a problem and returns nil if it cannot be used.
    private mutating func key(_ node: YAMLNode, in index: Int) -> String? {
        switch node.content {
        case .scalar(let text, _):
            if stack[index].keys.insert(text).inserted { return text }
            report(YAMLProblem(node.position, "the key '\(YAMLNode.shown(text))' occurs twice"))
        case .invalid: break
        case .sequence, .mapping:
            report(YAMLProblem(node.position, "expected a key, found a list or mapping"))
        }
        return nil
    }
}
