internal import DavitHTTP
internal import DavitLogging
internal import DavitServer
internal import DavitSystem

/// Serves the requests on a connection, from the arrival of input until the connection is idle again or
/// closed.
///
/// Belongs to the connection's task or, if there is none, to its loop. Exclusivity checks are disabled for
/// the state that each request uses: no access lasts longer than a single call.
final class Exchange {
    /// The next step for the connection.
    enum Outcome {
        case park
        case close
        /// Close after the peer has stopped sending.
        case linger
    }

    /// The work that is left for the task to complete the response.
    private enum Remaining {
        case response(HTTPResponse)
        case work(PendingResponse)
        /// The head is written, and the connection stays open.
        case rest(RemainingFile)
        case error(HTTPError)
    }

    /// The number of consecutive requests before other connections get a turn.
    private static let requestsPerTurn = 32

    let connection: Connection
    let loop: EventLoop
    let server: ServerContext
    @safe @exclusivity(unchecked) private(set) var request: HTTPRequest
    @safe @exclusivity(unchecked) private var parser: HeadParser
    @safe @exclusivity(unchecked) private var input: InputBuffer?
    /// The content of the current request; nil if it has none.
    @safe @exclusivity(unchecked) private(set) var content: ContentReader?
    /// The result of parsing the next head in ``serveWithoutTask()``, for the task: whether the head is
    /// complete, or why it is refused.
    @safe @exclusivity(unchecked) private var begun: Result<Bool, HTTPError>?
    /// Whether a request is being processed: its head has been parsed, and its response is not complete.
    @safe @exclusivity(unchecked) private var isAnswering = false
    /// The rest of the current response; nil before the handler was called, and once the task has taken it.
    @safe @exclusivity(unchecked) private var remaining: Remaining?
    /// The progress of the current response.
    @safe @exclusivity(unchecked) var progress = ResponseProgress()

    init(on connection: Connection) {
        self.connection = connection
        loop = connection.loop
        server = connection.server
        parser = HeadParser(limits: server.limits)
        request = loop.memory.takeRequest()
        swap(&request.memory, &connection.requestMemory)
    }

    /// Returns borrowed memory to the loop, and records a response as incomplete if only a part of its
    /// content was sent. No other method may be called afterwards.
    func giveBack() {
        if remaining != nil {
            if case .rest = remaining { _ = ended(isComplete: false) }
            remaining = nil
        }
        request.didEnd()
        endContent()
        giveInput()
        swap(&request.memory, &connection.requestMemory)
        if isKnownUniquelyReferenced(&request) { loop.memory.give(request) }
    }

    /// Reads requests and sends responses until the connection is to be parked or closed.
    nonisolated(nonsending) func run() async -> Outcome {
        let outcome = await serveRequests()
        giveBack()
        return outcome
    }

    private nonisolated(nonsending) func serveRequests() async -> Outcome {
        var servedInRow = 0
        while true {
            do throws(HTTPError) {
                switch try await readHead() {
                case .complete: break
                case .park: return .park
                case .ended: return .close
                }
            } catch {
                return await refuse(error)
            }
            switch answerWithoutTask() ? .next : await answer() {
            case .next: break
            case .close: return .close
            case .linger: return .linger
            }
            servedInRow += 1
            if servedInRow % Self.requestsPerTurn == 0 { await loop.turn() }
        }
    }

    /// The request that is being processed; nil between requests.
    var requestInFlight: HTTPRequest? { isAnswering ? request : nil }

    // MARK: Without a task

    /// The result of serving without a task.
    enum ServedWithoutTask { case done, more, ended }

    /// Receives available input and responds to the requests that do not have to wait. The responses are
    /// appended to the output buffer; only the content of large files is sent immediately.
    /// - Returns: `more` if ``run()`` has to continue.
    func serveWithoutTask() -> ServedWithoutTask {
        let buffer = unread
        guard connection.receive(into: buffer) else { return .ended }
        var served = 0
        while !buffer.isEmpty {
            begun = Result { () throws(HTTPError) in try parseHead(in: buffer) }
            guard case .success(true) = begun, served < Self.requestsPerTurn, answerWithoutTask()
            else {
                return .more
            }
            begun = nil
            served += 1
        }
        return .done
    }

    /// Calls the handler, and writes the response if nothing has to wait.
    /// - Returns: false if ``answer()`` has to complete the response, which may already have been started.
    private func answerWithoutTask() -> Bool {
        guard remaining == nil, answerNow(request) else { return false }
        endContent()
        renewRequest()
        return true
    }

    /// Like ``answerWithoutTask()``, but leaves the request and its content for the caller. The request is a parameter,
    /// so that it is not retained for each use.
    private func answerNow(_ request: HTTPRequest) -> Bool {
        beginAnswer(request)
        // A response that is written now is not stored in `remaining`, which would copy it twice.
        let response: HTTPResponse
        do throws(HTTPError) {
            switch try server.respond(to: request) {
            case .ready(let ready): response = ready
            case .pending(let work):
                remaining = .work(work)
                return false
            }
        } catch {
            remaining = .error(error)
            return false
        }
        guard hasContentArrived(request), !response.body.isStream else {
            remaining = .response(response)
            return false
        }
        content?.dropArrived()
        switch writeNow(response, to: request) {
        case .written: break
        case .begun(let rest):
            remaining = .rest(rest)
            return false
        case .impossible:
            remaining = .response(response)
            return false
        }
        _ = ended(request, isComplete: true)
        return true
    }

    /// Whether all content of the request has arrived; always false for chunked content, whose end is not
    /// known before it is decoded.
    private func hasContentArrived(_ request: HTTPRequest) -> Bool {
        switch request.framing {
        case .none: true
        case .length(let length): unreadCount >= length
        case .chunked: false
        }
    }

    // MARK: Input

    /// Received bytes that have not been consumed yet. The buffer is borrowed from the loop on first use.
    var unread: InputBuffer {
        if let input { return input }
        let taken = loop.memory.takeInput()
        input = taken
        return taken
    }

    var unreadCount: Int { input?.count ?? 0 }
    var hasUnread: Bool { unreadCount > 0 }

    private func giveInput() {
        guard let given = input else { return }
        input = nil
        given.removeAll()
        loop.memory.give(given)
    }

    private enum Head { case complete, park, ended }

    /// - Throws: the errors of ``HeadParser``, 408 on a timeout, and ``HTTPError/disconnected``.
    private nonisolated(nonsending) func readHead() async throws(HTTPError) -> Head {
        if let begun {
            self.begun = nil
            if try begun.get() { return .complete }
        }
        var deadline = Int64.max
        while true {
            if hasUnread {
                if try parseHead(in: unread) { return .complete }
                if deadline == .max {
                    deadline = loop.now + server.deadlines.head
                    // The peer may not send the rest before it knows that this part has arrived.
                    connection.channel.acknowledge()
                }
            }
            if !connection.isReadable {
                try await connection.sendComposed()
                switch await waitForHead(until: deadline) {
                case .ready: break
                case .park: return .park
                case .closing: return .ended
                case .timeout: throw HTTPError(.requestTimeout, "The request head arrived too slowly.")
                }
            }
            if !connection.receive(into: unread) {
                try await connection.sendComposed()
                return .ended
            }
        }
    }

    private func parseHead(in buffer: InputBuffer) throws(HTTPError) -> Bool {
        let count = try unsafe buffer.withUnread { bytes throws(HTTPError) in
            try unsafe parser.parse(bytes, into: request)
        }
        guard let count else { return false }
        buffer.consume(count)
        return true
    }

    private nonisolated(nonsending) func waitForHead(until deadline: Int64) async -> Connection.Wake {
        if deadline != .max { return await connection.waitForInput(.head, until: deadline) }
        giveInput()
        return await connection.waitForRequest()
    }

    // MARK: Responses

    private enum Next { case next, close, linger }

    private nonisolated(nonsending) func answer() async -> Next {
        let next = await respond()
        endContent()
        if next == .next { renewRequest() }
        return next
    }

    private func beginAnswer(_ request: HTTPRequest) {
        isAnswering = true
        request.endpoints = connection.endpoints
        if let tls = connection.channel.tls {
            request.isSecure = true
            request.clientCertificate = tls.clientCertificate
        } else {
            request.isSecure = false
            request.clientCertificate = nil
        }
        progress = ResponseProgress(start: server.accessLog == nil ? loop.now : Clock.now())
        guard request.framing != .none else { return }
        let reader = ContentReader(of: request, in: self)
        content = reader
        request.body = reader
    }

    private func endContent() {
        content?.detach()
        content = nil
    }

    private nonisolated(nonsending) func respond() async -> Next {
        do throws(HTTPError) {
            switch remaining.take() {
            case .response(let response): return try await send(response)
            case .work(let work): return try await send(try await work())
            case .rest(let rest):
                try await write(rest)
                return try await finish(Plan(isPersistent: true, unread: .none))
            case .error(let error): throw error
            case nil: return ended(isComplete: false)
            }
        } catch {
            if error == .reset { connection.resetOnClose() }
            guard !error.isDisconnected, progress.status == nil else { return ended(isComplete: false) }
            do throws(HTTPError) {
                return try await send(.error(error.status, error.reason))
            } catch {
                return ended(isComplete: false)
            }
        }
    }

    private nonisolated(nonsending) func send(_ response: HTTPResponse) async throws(HTTPError) -> Next {
        // A stream may still read the content.
        if !response.body.isStream { content?.dropArrived() }
        return try await finish(try await write(response))
    }

    private nonisolated(nonsending) func finish(_ plan: Plan) async throws(HTTPError) -> Next {
        _ = ended(isComplete: true)
        if plan.isPersistent && plan.unread == .none {
            if loop.output.isFull { try await connection.sendComposed() }
            return .next
        }
        try await connection.sendComposed()
        switch plan.unread {
        case .none: return .close
        case .close: return .linger
        case .discard: return await content?.discard() == true ? .next : .linger
        }
    }

    /// Records the response in the access log. If the response is not complete, the connection can only be
    /// closed.
    private func ended(isComplete: Bool) -> Next { ended(request, isComplete: isComplete) }

    private func ended(_ request: HTTPRequest, isComplete: Bool) -> Next {
        // With TLS, closing without close_notify signals to the peer that the response is truncated.
        if !isComplete { connection.markBroken() }
        // Content that was too small to be charged piece by piece.
        if request.isPaced, let pacer = request.pacer {
            pacer.didSend(Int(progress.contentBytes - progress.pacedBytes), now: loop.now)
            pacer.didReceive(content?.unpacedBytes ?? 0, now: loop.now)
        }
        request.didEnd()
        server.scheduleMaintenance(on: loop)
        if loop.counts != nil {
            progress.count(
                in: &loop.counts, kind: request.method.kind, progress.status, received: content?.receivedBytes
            )
        }
        if let log = server.accessLog {
            log(
                progress.record(
                    of: request, status: progress.status, received: content?.receivedBytes ?? 0,
                    peer: connection.endpoints.remote.host, isComplete: isComplete))
        }
        return .close
    }

    /// Responds to a request whose head is refused or late.
    private nonisolated(nonsending) func refuse(_ error: HTTPError) async -> Outcome {
        guard !error.isDisconnected else { return .close }
        progress = ResponseProgress(start: server.accessLog == nil ? loop.now : Clock.now())
        do throws(HTTPError) {
            try await writeRefusal(.error(error.status, error.reason))
            try await connection.sendComposed()
        } catch {
            return .close
        }
        if loop.counts != nil {
            progress.count(in: &loop.counts, kind: HTTPMethod.otherKind, error.status, received: nil)
        }
        if let log = server.accessLog {
            log(
                progress.record(
                    of: nil, status: error.status, received: 0, peer: connection.endpoints.remote.host,
                    isComplete: true))
        }
        return .linger
    }

    /// Prepares for the next request. Reuses the request object unless the handler has kept a reference to
    /// it.
    private func renewRequest() {
        isAnswering = false
        if isKnownUniquelyReferenced(&request) {
            request.removeBody()
        } else {
            let memory = request.memory
            request = HTTPRequest()
            request.memory = memory
        }
    }
}

extension HTTPBody {
    /// Whether the content is generated while it is sent. It may then depend on request content that has not
    /// been read yet.
    fileprivate var isStream: Bool {
        switch self {
        case .stream, .shaped: true
        case .empty, .bytes, .file, .segments: false
        }
    }
}
