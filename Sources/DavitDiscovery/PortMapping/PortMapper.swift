package import DavitServer
internal import DavitSystem

/// Keeps a port of the router mapped to the server while it listens.
///
/// A thread requests the mapping, renews it at half of its duration, and removes it at the end. Without success, it
/// tries again after 10 seconds to 30 minutes.
package final class PortMapper: Sendable {
    /// The state of the mapping.
    package enum Status: Hashable, Sendable {
        /// The server does not listen.
        case idle
        /// The first attempt is in progress.
        case searching
        case mapped(PortLease)
        case failed(reason: String)
    }

    private struct State {
        var status = Status.idle
        /// The port of the server; nil if the mapping must end.
        var port: UInt16?
        var hasThread = false
    }

    /// The pause after the first failure, which doubles with each further one, and the longest pause, in seconds.
    private static let firstPause = 10
    private static let longestPause = 1_800
    /// The shortest pause before a renewal, in seconds, if a router grants a very short duration.
    private static let leastRenewal = 15
    /// The longest pause before a renewal, so that a mapping is restored if the router has lost it.
    private static let longestRenewal = 1_800
    /// How long the end of the server waits for the removal of the mapping, in milliseconds.
    private static let stopMilliseconds: Int64 = 2_500

    private let gateway: any PortGateway
    private let external: UInt16?
    private let seconds: Int
    private let onChange: @Sendable (Status) -> Void
    private let milliseconds: @Sendable (_ seconds: Int) -> Int64
    private let monitor = Monitor(State())

    /// - Parameters:
    ///   - external: the wanted port of the public address; nil for that of the server.
    ///   - seconds: the wanted duration of the mapping.
    ///   - milliseconds: returns how long a pause lasts.
    ///   - onChange: called when the status changes, one call at a time.
    package init(
        _ gateway: any PortGateway, external: UInt16?, seconds: Int,
        milliseconds: @escaping @Sendable (_ seconds: Int) -> Int64 = { 1000 * Int64($0) },
        onChange: @escaping @Sendable (Status) -> Void
    ) {
        self.gateway = gateway
        self.external = external
        self.seconds = seconds
        self.milliseconds = milliseconds
        self.onChange = onChange
    }

    package var status: Status { monitor.withLock { $0.status } }

    /// Begins to map the port of the server, which listens. Returns immediately.
    package func start(_ port: UInt16) {
        let needsThread = monitor.withLock { state in
            state.port = port
            defer { state.hasThread = true }
            return !state.hasThread
        }
        monitor.broadcast()
        guard needsThread else { return }
        do throws(SystemError) {
            try SystemThread.start(named: "davit-ports") { [self] in run() }
        } catch {
            monitor.withLock { $0.hasThread = false }
            change(.failed(reason: error.description))
        }
    }

    /// Ends the mapping. Returns immediately.
    package func withdraw() {
        monitor.withLock { $0.port = nil }
        monitor.broadcast()
    }

    /// Ends the mapping, and waits until it has been removed: at most 2.5 seconds.
    package func stop() {
        withdraw()
        _ = monitor.wait(milliseconds: Self.stopMilliseconds) { $0.hasThread ? nil : () }
    }

    private func change(_ status: Status) {
        let isNew = monitor.withLock { state in
            defer { state.status = status }
            return state.status != status
        }
        if isNew { onChange(status) }
    }

    /// The main function of the thread.
    private func run() {
        var isEnded = false
        while !isEnded {
            while let port = monitor.withLock({ $0.port }) { keepMapped(port) }
            change(.idle)
            // The server may listen again by now.
            isEnded = monitor.withLock { state in
                if state.port == nil { state.hasThread = false }
                return !state.hasThread
            }
        }
        monitor.broadcast()
    }

    /// Maps a port until the server does not use it any more.
    private func keepMapped(_ port: UInt16) {
        var lease: PortLease?
        var failures = 0
        if status == .idle { change(.searching) }
        repeat {
            let pause: Int
            do throws(PortGatewayError) {
                let new = try gateway.map(port, to: lease?.port ?? external ?? port, seconds: seconds)
                lease = new
                failures = 0
                change(.mapped(new))
                let half = new.seconds == 0 ? Self.longestRenewal : new.seconds / 2
                pause = min(max(half, Self.leastRenewal), Self.longestRenewal)
            } catch {
                failures += 1
                pause = min(Self.firstPause << min(failures - 1, 8), Self.longestPause)
                change(.failed(reason: error.reason))
            }
            _ = monitor.wait(milliseconds: milliseconds(pause)) { $0.port == port ? nil : () }
        } while monitor.withLock { $0.port } == port
        if let lease { gateway.unmap(port, lease) }
    }
}
