#if Postgres
internal import DavitPostgres
internal import DavitSystem
internal import Synchronization

/// Waits for notifications that a share has changed, from all nodes, on a thread with a connection of its own.
final class TreeNews: Sendable {
    private let isStopped = Atomic<Bool>(false)

    /// How long a thread waits until it looks whether it must end.
    private static let waitTime = Duration.seconds(2)
    /// The pause after the connection was lost.
    private static let pauseMilliseconds = 1_000

    /// - Parameters:
    ///   - report: reports failures, as a line for the log.
    ///   - body: called on the thread, when something may have changed.
    init(
        _ servers: PostgresServers, share: Int64, _ report: @escaping @Sendable (String) -> Void,
        _ body: @escaping @Sendable () -> Void
    ) {
        do throws(SystemError) {
            try SystemThread.start(named: "davit-news") { [self] in
                FileFaults.uncounted { run(servers, share, body) }
            }
        } catch {
            report("the thread for notifications cannot be started: \(error)")
        }
    }

    private func run(_ servers: PostgresServers, _ share: Int64, _ body: @Sendable () -> Void) {
        while !isStopped.load(ordering: .acquiring) {
            do throws(PostgresError) {
                // Notifications of this node count, too: they come after the changes are visible.
                let listener = try PostgresListener(servers, node: 0, until: .now + .seconds(10))
                // Something may have changed before.
                body()
                while !isStopped.load(ordering: .acquiring) {
                    let news = try listener.next(until: .now + Self.waitTime)
                    if news.isEverything || news.shares.contains(share) { body() }
                }
            } catch {
                // The next attempt finds out more; other statements report that the database cannot be used.
                SystemThread.sleep(milliseconds: Self.pauseMilliseconds)
            }
        }
    }

    /// Ends the thread. Does not wait for it.
    func stop() { isStopped.store(true, ordering: .releasing) }
}

/// Runs the timer of ``PostgresNotifier`` on a thread.
final class NotifierThread: Sendable {
    private struct State {
        var scheduled: (due: ContinuousClock.Instant, body: @Sendable () -> Void)?
        var isStopped = false
        var isStarted = false
    }

    private let state = Monitor(State())

    /// Runs `body` after a time. There is at most one closure that waits.
    func schedule(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state -> Bool in
            state.scheduled = (.now + delay, body)
            defer { state.isStarted = true }
            return !state.isStarted
        }
        state.signal()
        if starts {
            try? SystemThread.start(named: "davit-notify") { [self] in FileFaults.uncounted { run() } }
        }
    }

    private func run() {
        while true {
            let next = state.wait { state -> (due: ContinuousClock.Instant, body: @Sendable () -> Void)?? in
                if state.isStopped { return .some(nil) }
                return state.scheduled.take().map { .some($0) }
            }
            guard let next else { return }
            let rest = next.due - .now
            if rest > .zero {
                SystemThread.sleep(milliseconds: Int(rest.components.attoseconds / 1_000_000_000_000_000))
            }
            next.body()
        }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        state.broadcast()
    }
}
#endif
