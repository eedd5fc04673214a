/// A transaction on its way to a store.
package struct Transaction: Sendable {
    package let changes: [StateChange]
    /// See ``StateStore/apply(_:publish:)``.
    package let publish: @Sendable (_ emptying: Set<Int>) -> Void

    package init(changes: [StateChange], publish: @escaping @Sendable (_ emptying: Set<Int>) -> Void) {
        self.changes = changes
        self.publish = publish
    }
}

/// A ``GroupLine`` of transactions, for stores that commit several together.
///
/// It stands in the module of ``GroupLine``, where the compiler makes one for these types. Used from elsewhere, the
/// line would look up types at each of its steps, which cost as much as half a commit.
package final class TransactionLine: Sendable {
    private let line: GroupLine<Transaction, StateError>

    /// - Parameters: see ``GroupLine``.
    package init(
        background: BackgroundWork, _ write: @escaping @Sendable ([Transaction]) -> [StateError?]
    ) {
        line = GroupLine(background: background, write)
    }

    /// Waits until `transaction` is committed or has failed.
    package func perform(_ transaction: Transaction) throws(StateError) {
        if let failure = line.perform(transaction) { throw failure }
    }

    /// Has `transaction` committed, and returns at once.
    /// - Parameter completion: called once, on the thread that leads, with why it failed or nil.
    package func submit(_ transaction: Transaction, completion: @escaping @Sendable (StateError?) -> Void) {
        line.submit(transaction, completion: completion)
    }
}
