/// A transaction to be committed.
package struct Transaction: Sendable {
    package let changes: [StateChange]
    /// See ``StateStore/apply(_:publish:)``.
    package let publish: @Sendable (_ emptying: Set<Int>) -> Void

    package init(changes: [StateChange], publish: @escaping @Sendable (_ emptying: Set<Int>) -> Void) {
        self.changes = changes
        self.publish = publish
    }
}

/// A ``GroupCommitQueue`` of transactions, for stores that commit several together.
///
/// This type is defined in the module of ``GroupCommitQueue`` so that the compiler can specialize the generic
/// code. Without specialization, metadata lookups at each step cost as much as half a commit.
package final class TransactionQueue: Sendable {
    private let line: GroupCommitQueue<Transaction, StateError>

    /// - Parameters: see ``GroupCommitQueue``.
    package init(
        background: BackgroundWork, _ write: @escaping @Sendable ([Transaction]) -> [StateError?]
    ) {
        line = GroupCommitQueue(background: background, write)
    }

    /// Commits `transaction` and waits for the result.
    package func perform(_ transaction: Transaction) throws(StateError) {
        if let failure = line.perform(transaction) { throw failure }
    }

    /// Enqueues `transaction` and returns immediately.
    /// - Parameter completion: called once, on the thread that committed the transaction, with its error or
    ///   nil for success.
    package func submit(_ transaction: Transaction, completion: @escaping @Sendable (StateError?) -> Void) {
        line.submit(transaction, completion: completion)
    }
}
