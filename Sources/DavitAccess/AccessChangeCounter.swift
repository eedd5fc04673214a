internal import Synchronization

/// Counts the changes of an access policy, so that the views of its principals can be kept from one request to the next.
public final class AccessChangeCounter: Sendable {
    private let count = Atomic<UInt64>(0)

    public init() {}

    /// Ends the use of all views that were created before. Call it when a change is in effect, before it is acknowledged.
    public func increment() { count.add(1, ordering: .releasing) }

    /// The number of changes. A view is valid as long as it equals the number before the view was created.
    package var current: UInt64 { count.load(ordering: .acquiring) }
}
