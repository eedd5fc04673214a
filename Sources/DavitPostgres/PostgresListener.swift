#if Postgres
internal import CPQ
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Receives the notifications of other nodes, on a connection of its own, for one thread.
///
/// What happens before the connection is open, or after it is lost, is not received: read the journal of all shares after
/// opening a listener.
package final class PostgresListener {
    private let connection: PostgresConnection
    private let servers: PostgresServers
    private let timeline: Int64
    private let node: Int64

    /// - Parameter node: see ``PostgresNotifier``.
    package init(
        _ servers: PostgresServers, node: Int64, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        let opened = try servers.open(until: deadline)
        connection = opened.connection
        timeline = opened.timeline
        self.servers = servers
        self.node = node
        try connection.run("LISTEN davit", until: deadline)
    }

    /// Waits for notifications, and returns those that were received together. At the deadline, returns none, after making
    /// sure that the server still answers.
    ///
    /// - Throws: if the connection is lost, or the server is no longer the primary.
    package func next(until deadline: ContinuousClock.Instant) throws(PostgresError) -> PostgresNews {
        while true {
            guard timeline >= servers.highestTimeline else {
                throw connection.lost(.notPrimary, "another server was promoted")
            }
            let news = try connection.notifications(own: node)
            if news.count > 0 || news.isEverything { return news }
            guard try connection.poll(POLLIN, until: deadline) else { break }
            try connection.receive()
        }
        try connection.run("SELECT 1", until: .now + servers.settings.roundTripTimeout)
        return try connection.notifications(own: node)
    }
}

extension PostgresConnection {
    /// Reads what the server has sent without being asked.
    fileprivate func receive() throws(PostgresError) {
        guard let handle = unsafe handle else {
            throw PostgresError(.connectionLost, "the connection is closed")
        }
        guard unsafe PQconsumeInput(handle) == 1, unsafe PQstatus(handle) == CONNECTION_OK else {
            throw lost(.connectionLost, unsafe Self.line(PQerrorMessage(handle)))
        }
    }

    fileprivate func notifications(own: Int64) throws(PostgresError) -> PostgresNews {
        guard let handle = unsafe handle else {
            throw PostgresError(.connectionLost, "the connection is closed")
        }
        var news = PostgresNews()
        while let notification = unsafe PQnotifies(handle) {
            news.add(unsafe String(cString: notification.pointee.extra), own: own)
            unsafe PQfreemem(notification)
        }
        return news
    }
}
#endif
