#if Postgres
internal import DavitSystem
internal import Synchronization

/// The servers of a database, of which one is the primary.
///
/// Each promotion of a standby begins a timeline with a higher number. A primary that was stopped and wakes up after its
/// standby was promoted still takes statements, on its old timeline. So all servers are compared when the node starts,
/// after a failure, and from time to time. The one with the highest timeline is used, and one with a lower timeline than
/// any that was seen is refused.
package final class PostgresServers: Sendable {
    private struct State {
        var preferred: Int?
        var highestTimeline: Int64 = 0
        var systemIdentifier: Int64?
    }

    /// A connection that is ready for use: the session's settings are made, and the server is the primary.
    struct Opened {
        let connection: PostgresConnection
        let timeline: Int64
    }

    let settings: PostgresSettings
    let clock: PostgresClock
    private let state = Mutex(State())

    package init(_ settings: PostgresSettings, clock: PostgresClock = PostgresClock()) {
        self.settings = settings
        self.clock = clock
    }

    /// The highest timeline of any server so far; 0 before the first connection.
    package var highestTimeline: Int64 { state.withLock { $0.highestTimeline } }

    /// Opens a connection to the primary.
    ///
    /// - Parameter deadline: for all servers; ``PostgresSettings/connectTimeout`` also limits each.
    func open(until deadline: ContinuousClock.Instant) throws(PostgresError) -> Opened {
        let preferred = state.withLock { $0.preferred }
        var failure: PostgresError?
        if let preferred {
            do { return try open(preferred, until: deadline) } catch { failure = error }
        }
        do throws(PostgresError) {
            let (index, opened) = try best(except: preferred, until: deadline, failure)
            state.withLock { $0.preferred = index }
            return opened
        } catch {
            // The next attempt compares all servers: until then, another one may be promoted, and this one return.
            state.withLock { $0.preferred = nil }
            throw error
        }
    }

    /// Compares all servers, so that a higher timeline is noticed. Servers that cannot be reached are skipped.
    func compare(until deadline: ContinuousClock.Instant) {
        guard settings.servers.count > 1 else { return }
        let (preferred, highest) = state.withLock { ($0.preferred, $0.highestTimeline) }
        guard let (index, opened) = try? best(except: preferred, until: deadline, nil) else { return }
        opened.connection.close()
        if opened.timeline > highest { state.withLock { $0.preferred = index } }
    }

    /// Connects to all servers except `skipped`, and keeps the connection with the highest timeline.
    private func best(
        except skipped: Int?, until deadline: ContinuousClock.Instant, _ failure: PostgresError?
    ) throws(PostgresError) -> (index: Int, opened: Opened) {
        var failure = failure
        var best: (index: Int, opened: Opened)?
        for index in settings.servers.indices where index != skipped {
            do throws(PostgresError) {
                let opened = try open(index, until: deadline)
                if best.map({ $0.opened.timeline < opened.timeline }) ?? true { best = (index, opened) }
            } catch {
                // What the first server reported is more likely to explain the failure than what a standby reports.
                failure = failure ?? error
            }
        }
        guard let best else { throw failure ?? PostgresError(.connectionLost, "no server is configured") }
        return best
    }

    private func open(_ index: Int, until deadline: ContinuousClock.Instant) throws(PostgresError) -> Opened {
        let limit = min(deadline, .now + settings.connectTimeout)
        let connection = try PostgresConnection(settings.servers[index], until: limit)
        do throws(PostgresError) {
            let timeline = try begin(connection, until: limit)
            try accept(timeline)
            return Opened(connection: connection, timeline: timeline.number)
        } catch {
            connection.close()
            throw error
        }
    }

    private struct Timeline {
        /// 0 for a standby.
        let number: Int64
        let systemIdentifier: Int64
    }

    /// Makes the settings of a session, and asks for the timeline, in one round trip.
    private func begin(
        _ connection: PostgresConnection, until limit: ContinuousClock.Instant
    ) throws(PostgresError) -> Timeline {
        var batch = PostgresBatch()
        batch.add(
            """
            SELECT set_config('application_name', $1, false), set_config('statement_timeout', $2, false),
                set_config('lock_timeout', $3, false), set_config('idle_in_transaction_session_timeout', $4, false),
                set_config('client_encoding', 'UTF8', false), set_config('search_path', 'davit', false),
                set_config('default_transaction_isolation', 'read committed', false),
                -- The server ends the statements and the sessions of clients that are gone.
                set_config('client_connection_check_interval', '1000', false),
                set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
                set_config('tcp_keepalives_count', '3', false)
            """,
            .text(settings.applicationName), .text(settings.statementTimeout.setting),
            .text(settings.lockTimeout.setting), .text(settings.idleTransactionTimeout.setting))
        batch.add(
            """
            SELECT CASE WHEN pg_is_in_recovery() THEN 0
                ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END,
                (SELECT system_identifier FROM pg_control_system()), clock_timestamp()
            """)
        let sent = ContinuousClock.now
        let answer = try connection.run(batch, until: limit)[1]
        clock.record(try answer.time(0, 2), sent: sent, received: .now)
        return Timeline(number: try answer.integer(0, 0), systemIdentifier: try answer.integer(0, 1))
    }

    /// Remembers the timeline, or throws `notPrimary`.
    private func accept(_ timeline: Timeline) throws(PostgresError) {
        let refusal = state.withLock { state -> String? in
            if timeline.number == 0 { return "the server is a standby" }
            if let known = state.systemIdentifier, known != timeline.systemIdentifier {
                return "the server belongs to another database cluster"
            }
            if timeline.number < state.highestTimeline {
                return
                    "the server is on the old timeline \(timeline.number); the current one is \(state.highestTimeline)"
            }
            state.highestTimeline = timeline.number
            state.systemIdentifier = timeline.systemIdentifier
            return nil
        }
        if let refusal { throw PostgresError(.notPrimary, refusal) }
    }
}
#endif
