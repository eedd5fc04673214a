internal import DavitHTTP

/// Finds the rules whose path matches, without trying all of them.
///
/// A lookup costs one dictionary access per segment, plus one for each parameter at the same place, plus one
/// comparison for each pattern with wildcards below the same segments and for each regular expression.
struct RuleTrie: Sendable {
    private struct Node: Sendable {
        var children: [[UInt8]: Int] = [:]
        var parameter: Int?
        /// Rules that end here.
        var rules: [Int] = []
        /// Rules with wildcards below this node.
        var globs: [Int] = []
    }

    private var nodes = [Node()]
    private var regexes: [Int] = []

    /// Adds the rule with this index.
    /// - Parameter isCollection: whether the rule also matches all paths with one more segment.
    mutating func insert(_ path: StubPath, _ rule: Int, isCollection: Bool = false) {
        switch path.kind {
        case .segments(let segments):
            var node = 0
            for segment in segments { node = child(of: node, segment) }
            nodes[node].rules.append(rule)
            if isCollection { nodes[child(of: node, .parameter(""))].rules.append(rule) }
        case .glob(let below, _):
            var node = 0
            for segment in below { node = child(of: node, .text(segment)) }
            nodes[node].globs.append(rule)
        case .regex: regexes.append(rule)
        }
    }

    private mutating func child(of node: Int, _ segment: StubPath.Segment) -> Int {
        switch segment {
        case .text(let text):
            if let child = nodes[node].children[text] { return child }
            nodes.append(Node())
            nodes[node].children[text] = nodes.count - 1
        case .parameter:
            if let child = nodes[node].parameter { return child }
            nodes.append(Node())
            nodes[node].parameter = nodes.count - 1
        }
        return nodes.count - 1
    }

    /// Returns the indexes of the rules that may match a path with these segments, the greatest first. The path
    /// of a rule with wildcards or a regular expression still has to be compared.
    func candidates(for segments: [ArraySlice<UInt8>]) -> [Int] {
        var found = regexes
        // Each node has one depth, so each is visited at most once.
        var level = [0]
        for segment in segments {
            var next: [Int] = []
            let key = Array(segment)
            for node in level {
                found += nodes[node].globs
                if let child = nodes[node].children[key] { next.append(child) }
                if let child = nodes[node].parameter, !segment.isEmpty { next.append(child) }
            }
            level = next
            if level.isEmpty { break }
        }
        // `/a/**` also matches `/a`.
        for node in level { found += nodes[node].rules + nodes[node].globs }
        if found.count > 1 { found.sort(by: >) }
        return found
    }
}
