internal import DavitFaults
internal import DavitHTTP
internal import DavitServer
internal import DavitSystem

/// Answers the requests of a stub server: those below `/.davit/` from the control interface, all others by the
/// rules. Records every request of the second kind.
struct StubHandler<Control: Handler>: Handler {
    let state: StubState
    let work: any BlockingWorkRunner
    let control: Control
    /// Where requests go that no rule matches; nil to answer them with 404.
    let forwarding: Forwarding?

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        let path = try? ResourcePath.parse(rawPath: request.rawPath)
        if let path, path.path.segments.first?.elementsEqual(".davit".utf8) == true {
            return try control.respond(to: request)
        }
        let (set, start) = (state.ruleSet, Clock.now())
        let exchange = StubExchange(StubRequest(request, at: Clock.wallNow()))
        let matcher = RuleMatcher(
            state: state, set: set, work: work, exchange: exchange, forwarding: forwarding, path: path)
        let log = state.log
        func finish(_ response: HTTPResponse?) {
            var entry = exchange.entry
            if let response { entry.keep(response) }
            entry.duration = Clock.now() - start
            log.add(entry)
        }
        let reply: Reply
        do throws(HTTPError) {
            reply =
                if let faults = set.faults {
                    try faults.handle(request, next: matcher)
                } else {
                    try matcher.respond(to: request)
                }
        } catch {
            finish(error.isDisconnected ? nil : .error(error.status, error.reason, for: request))
            throw error
        }
        switch reply {
        case .ready(let response):
            finish(response)
            return reply
        case .pending(let work):
            return .pending { () async throws(HTTPError) in
                do throws(HTTPError) {
                    let response = try await work()
                    finish(response)
                    return response
                } catch {
                    finish(error.isDisconnected ? nil : .error(error.status, error.reason, for: request))
                    throw error
                }
            }
        }
    }
}

/// What becomes known of a request while it is handled. Used by the task of the request.
final class StubExchange: Sendable {
    private let value: Exclusive<StubRequest>

    init(_ entry: StubRequest) { value = Exclusive(entry) }

    var entry: StubRequest { value.withValue { $0 } }

    func change(_ body: (inout StubRequest) -> Void) { value.withValue { body(&$0) } }
}
