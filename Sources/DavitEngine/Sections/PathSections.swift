internal import Synchronization

/// The sections in which changes run: who may change what, now.
///
/// A set of claims is granted when none of them is in the way of one that was asked for earlier, whether that
/// is held or waits: first come, first served, and nobody starves. All of a set is granted at once, so that two
/// sets cannot wait for each other. Waiting blocks no thread.
///
/// A grant without a wait is one short mutex section, with a look-up for each segment of each path.
package final class PathSections: Sendable {
    private struct State {
        var table = ClaimTable()
        var continuations: [UInt64: CheckedContinuation<Bool, Never>] = [:]

        /// - Returns: whom to resume, outside of the mutex. Who has no continuation yet will see the table.
        mutating func leave(_ ticket: UInt64) -> [CheckedContinuation<Bool, Never>] {
            table.leave(ticket).compactMap { continuations.removeValue(forKey: $0) }
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Waits until all `claims` can be held. They may overlap each other.
    ///
    /// - Throws: `CancellationError` if the task is cancelled while it waits; it then holds nothing and is in
    ///   nobody's way.
    package func acquire(_ claims: [Claim]) async throws(CancellationError) -> Section {
        let (ticket, isGranted) = state.withLock { $0.table.enter(claims) }
        let section = Section(ticket: ticket, sections: self)
        if isGranted { return section }
        let isHeld = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(for: ticket, $0) }
        } onCancel: {
            cancel(ticket)
        }
        guard isHeld else { throw CancellationError() }
        return section
    }

    /// Resumes `continuation` with true when the claims are held, with false when the wait is cancelled.
    private func wait(for ticket: UInt64, _ continuation: CheckedContinuation<Bool, Never>) {
        let known: Bool? = state.withLock { state in
            switch state.table.isGranted(ticket) {
            case true?: return true
            case nil: return false
            case false?:
                state.continuations[ticket] = continuation
                return nil
            }
        }
        if let known { continuation.resume(returning: known) }
    }

    /// Too late if the claims are held: then they stay so.
    private func cancel(_ ticket: UInt64) {
        let (own, granted) = state.withLock { state in
            guard state.table.isGranted(ticket) == false else {
                return (nil as CheckedContinuation<Bool, Never>?, [CheckedContinuation<Bool, Never>]())
            }
            return (state.continuations.removeValue(forKey: ticket), state.leave(ticket))
        }
        own?.resume(returning: false)
        for continuation in granted { continuation.resume(returning: true) }
    }

    fileprivate func leave(_ ticket: UInt64) {
        let granted = state.withLock { $0.leave(ticket) }
        for continuation in granted { continuation.resume(returning: true) }
    }

    /// Runs `body` while all `claims` are held, and releases them however it ends.
    ///
    /// - Parameter cancellation: what to throw if the task is cancelled while it waits.
    package func withSection<R, E: Error>(
        _ claims: [Claim], ifCancelled cancellation: @autoclosure () -> E, _ body: () async throws(E) -> R
    ) async throws(E) -> R {
        let section: Section
        do throws(CancellationError) {
            section = try await acquire(claims)
        } catch {
            throw cancellation()
        }
        defer { section.release() }
        return try await body()
    }

    /// As ``withSection(_:ifCancelled:_:)``, if all `claims` can be held at once and `body` suspends nowhere.
    /// - Returns: nil if they cannot, and nobody has noticed.
    package func withSectionIfFree<R, E: Error>(
        _ claims: [Claim], _ body: () throws(E) -> R?
    ) throws(E) -> R? {
        guard let ticket = state.withLock({ $0.table.enterIfFree(claims) }) else { return nil }
        defer { leave(ticket) }
        return try body()
    }

    /// How many sets of claims are held or wait; 0 when nobody is there.
    package var count: Int { state.withLock { $0.table.count } }
}

/// Claims that are held, until ``release()`` or until the last reference is gone.
package final class Section: Sendable {
    private let ticket: UInt64
    private let sections: PathSections
    private let isReleased = Atomic<Bool>(false)

    fileprivate init(ticket: UInt64, sections: PathSections) {
        self.ticket = ticket
        self.sections = sections
    }

    /// Lets the next ones in. On any thread; a second call does nothing.
    package func release() {
        guard !isReleased.exchange(true, ordering: .acquiringAndReleasing) else { return }
        sections.leave(ticket)
    }

    deinit { release() }
}
