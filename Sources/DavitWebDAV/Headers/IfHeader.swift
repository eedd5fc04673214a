public import DavitHTTP

/// The If field (RFC 4918 §10.4): lists of conditions on the state of resources.
public struct IfHeader: Hashable, Sendable {
    /// The lists in the order of the field; never empty after parsing.
    public internal(set) var lists: [List]

    public init(lists: [List]) { self.lists = lists }

    /// Conditions on one resource, all of which must hold.
    public struct List: Hashable, Sendable {
        /// The `Simple-ref` before the list, an absolute URI or an absolute path, as sent; nil for a
        /// No-tag-list, which applies to the resource that the request URI identifies.
        public let resourceTag: String?
        /// The conditions; never empty after parsing.
        public let conditions: [Condition]

        public init(resourceTag: String? = nil, _ conditions: [Condition]) {
            self.resourceTag = resourceTag
            self.conditions = conditions
        }
    }

    public struct Condition: Hashable, Sendable {
        public enum State: Hashable, Sendable {
            /// A URI: a lock token, a synchronization token (RFC 6578 §5), or any other URI, which never
            /// matches.
            case stateToken(String)
            case entityTag(EntityTag)
        }

        public let state: State
        /// Whether the condition is preceded by `Not`.
        public let isNegated: Bool

        public init(_ state: State, isNegated: Bool = false) {
            self.state = state
            self.isNegated = isNegated
        }
    }
}
