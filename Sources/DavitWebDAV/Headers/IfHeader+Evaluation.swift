public import DavitHTTP

extension IfHeader {
    /// What conditions are compared with.
    public struct ResourceState: Hashable, Sendable {
        /// The tokens of all locks on the resource, those of locks of depth infinity above it included
        /// (RFC 4918 §10.4.4).
        public var tokens: Set<String>
        /// The entity tag of its current representation; nil if it has none.
        public var entityTag: EntityTag?

        public init(tokens: Set<String> = [], entityTag: EntityTag? = nil) {
            self.tokens = tokens
            self.entityTag = entityTag
        }

        /// What a resource that is not mapped, or is not this server's, has: nothing matches it (§10.4.4).
        public static let unmapped = ResourceState()
    }

    /// Whether the field as a whole is true (§10.4.3): one of its lists holds. If not, the answer is 412.
    ///
    /// - Parameter state: gives the state of a tagged resource, or of the request's own for nil. Asked once for
    ///   each list up to the first that holds, and not again for the same tag in a row.
    public func evaluate<E: Error>(
        _ state: (_ resourceTag: String?) throws(E) -> ResourceState
    ) throws(E) -> Bool {
        var known: (tag: String?, state: ResourceState)?
        for list in lists {
            let current: ResourceState
            if let known, known.tag == list.resourceTag {
                current = known.state
            } else {
                current = try state(list.resourceTag)
                known = (list.resourceTag, current)
            }
            if list.conditions.allSatisfy({ $0.holds(for: current) }) { return true }
        }
        return false
    }

    /// Every state token in the field. A token is submitted by standing there, in whatever list and with or
    /// without `Not` (§7.5, §10.4.1).
    public var submittedTokens: Set<String> {
        var tokens: Set<String> = []
        for list in lists {
            for case .stateToken(let token) in list.conditions.map(\.state) { tokens.insert(token) }
        }
        return tokens
    }
}

extension IfHeader.Condition {
    /// Entity tags compare strongly: a write rests on the answer (§10.4.4, RFC 9110 §8.8.3.2).
    public func holds(for resource: IfHeader.ResourceState) -> Bool {
        let matches =
            switch state {
            case .stateToken(let token): resource.tokens.contains(token)
            case .entityTag(let tag): resource.entityTag.map(tag.matchesStrongly) ?? false
            }
        return matches != isNegated
    }
}
