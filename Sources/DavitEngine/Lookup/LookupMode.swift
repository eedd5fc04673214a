internal import DavitStore

/// How to look up the resources of a change.
enum LookupMode: Equatable {
    /// Before path locks are acquired, and while they are held for a change that affects only rows.
    case first(Wait)
    /// While path locks are held, immediately before a change of resources; may block.
    case mayWait
    /// Same as ``mayWait``, but on the event loop; must not block.
    case nonBlocking
    /// Same as ``nonBlocking``, but names that the method creates are assumed not to exist. If such a name exists, the
    /// commit fails.
    case nonBlockingAssumingFreeNames

    var wait: Wait {
        switch self {
        case .first(let wait): wait
        case .mayWait: .allowed
        case .nonBlocking, .nonBlockingAssumingFreeNames: .never
        }
    }

    /// Returns the mode for the lookup of a single name.
    /// - Parameter isExpected: whether the method is expected to create this name.
    func expecting(free isExpected: Bool) -> LookupMode {
        self == .nonBlockingAssumingFreeNames && !isExpected ? .nonBlocking : self
    }
}
