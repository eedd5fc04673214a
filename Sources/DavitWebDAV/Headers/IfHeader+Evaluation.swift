public import DavitHTTP

extension IfHeader {
    /// The state of a resource that conditions are evaluated against.
    public struct ResourceState: Hashable, Sendable {
        /// The tokens in the field that match: those of locks on the resource, including locks of depth infinity on its
        /// ancestors (RFC 4918 §10.4.4), and for a collection the synchronization tokens that match its state (RFC 6578
        /// §5).
        public var tokens: Set<String>
        /// The entity tag of the current representation; nil if there is none.
        public var entityTag: EntityTag?

        public init(tokens: Set<String> = [], entityTag: EntityTag? = nil) {
            self.tokens = tokens
            self.entityTag = entityTag
        }

        /// The state of a resource that is unmapped or does not belong to this server: no token and no entity
        /// tag matches it (§10.4.4).
        public static let unmapped = ResourceState()
    }

    /// Evaluates the field (§10.4.3): the field is true if at least one of its lists is true. If it is false,
    /// the response is 412.
    ///
    /// - Parameter state: returns the state of a tagged resource or, for nil, of the resource that the
    ///   request URI identifies. Called once for each tag up to the first list that holds.
    public func evaluate<E: Error>(
        _ state: (_ resourceTag: String?) throws(E) -> ResourceState
    ) throws(E) -> Bool {
        var known: [String?: ResourceState] = [:]
        for list in lists {
            let current: ResourceState
            if let state = known[list.resourceTag] {
                current = state
            } else {
                current = try state(list.resourceTag)
                known[list.resourceTag] = current
            }
            if list.conditions.allSatisfy({ $0.holds(for: current) }) { return true }
        }
        return false
    }

    /// All state tokens in the field. A token counts as submitted if it occurs in any list, with or without
    /// `Not` (§7.5, §10.4.1).
    public var submittedTokens: Set<String> {
        var tokens: Set<String> = []
        for list in lists {
            for case .stateToken(let token) in list.conditions.map(\.state) { tokens.insert(token) }
        }
        return tokens
    }
}

extension IfHeader.Condition {
    /// Whether the condition holds. Uses the strong comparison of entity tags, because writes depend on the
    /// result (§10.4.4, RFC 9110 §8.8.3.2).
    public func holds(for resource: IfHeader.ResourceState) -> Bool {
        let matches =
            switch state {
            case .stateToken(let token): resource.tokens.contains(token)
            case .entityTag(let tag): resource.entityTag.map(tag.matchesStrongly) ?? false
            }
        return matches != isNegated
    }
}
