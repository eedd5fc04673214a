public import DavitHTTP
internal import Synchronization

/// A request that a stub server has received, and its response.
public struct StubRequest: Sendable {
    /// A rule that did not match, and why.
    public struct Miss: Hashable, Sendable {
        public var rule: String
        public var reason: String
    }

    /// A check that failed.
    public struct Problem: Hashable, Sendable {
        /// What was checked, such as `json $.email`.
        public var subject: String
        /// What is wrong with it.
        public var problem: String
        /// The value, possibly shortened; nil if there is none.
        public var value: String?
    }

    /// Numbers begin with 1 and grow by 1.
    public internal(set) var number: UInt64 = 0
    /// Nanoseconds since 1970 in UTC.
    public var time: Int64
    public var method: HTTPMethod
    /// The path and the query as sent.
    public var target: String
    private var head: [UInt8]
    private var lines: [HTTPRequest.FieldLine]
    /// The length of the content in bytes.
    public var contentLength: Int64 = 0
    /// The content, or its first 64 KiB.
    public var content: [UInt8] = []
    /// The rule that answered; nil if none matched.
    public var rule: String?
    public var misses: [Miss] = []
    /// Whether the response is that of the server to which requests are forwarded.
    public internal(set) var isForwarded = false
    public var problems: [Problem] = []
    /// The status of the response; nil if the connection ended without one.
    public var status: HTTPStatus?
    private var encodedResponseFields: [UInt8] = []
    /// The content of the response, or its first 64 KiB; empty if it is a file or a stream.
    public var response: [UInt8] = []
    /// The time from the head of the request to the response in nanoseconds.
    public var duration: Int64 = 0

    /// The maximum length of content that is kept, in bytes.
    static let keptBytes = 64 << 10

    init(_ request: HTTPRequest, at time: Int64) {
        self.time = time
        method = request.method
        let target = request.target
        var text = target.rawPath.isEmpty ? [UInt8(ascii: "/")] : target.rawPath
        if let query = target.rawQuery { text += [UInt8(ascii: "?")] + query }
        self.target = String(decoding: text, as: UTF8.self)
        head = request.head
        lines = request.lines
    }

    /// The fields in the order in which they were sent.
    public var fields: [StubReply.Field] {
        lines.map { line in
            StubReply.Field(
                String(decoding: head[line.nameRange], as: UTF8.self),
                String(decoding: head[line.valueRange], as: UTF8.self))
        }
    }

    /// The fields of the response, without those that the server adds to all responses.
    public var responseFields: [StubReply.Field] {
        encodedResponseFields.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            var value = line[line.index(after: colon)...]
            if value.last == UInt8(ascii: "\r") { value.removeLast() }
            while value.first == UInt8(ascii: " ") { value.removeFirst() }
            return StubReply.Field(
                String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
        }
    }

    private var responseLength: Int64? = 0

    /// Whether ``response`` is the complete content of the response.
    var isResponseComplete: Bool { status != nil && responseLength == Int64(response.count) }

    /// Whether ``content`` is complete.
    public var isContentComplete: Bool { Int64(content.count) == contentLength }

    /// The number of bytes of content that the entry keeps.
    var size: Int { head.count + content.count + response.count }

    mutating func keep(_ received: ReceivedContent) {
        contentLength = received.length
        content =
            received.bytes.count > Self.keptBytes ? Array(received.bytes[..<Self.keptBytes]) : received.bytes
    }

    mutating func keep(_ response: HTTPResponse) {
        status = response.status
        encodedResponseFields = response.fields.encoded
        var body = response.body
        if case .shaped(let shaped) = body { body = shaped.content }
        responseLength = body.length
        if case .bytes(let bytes) = body {
            self.response = bytes.count > Self.keptBytes ? Array(bytes[..<Self.keptBytes]) : bytes
        }
    }
}

/// The latest requests. Its size is limited, so the oldest requests are removed.
final class RequestLog: Sendable {
    static let entryLimit = 10_000
    static let byteLimit = 64 << 20
    /// The maximum number of clients that wait for requests.
    static let observerLimit = 64

    enum Event: Sendable {
        case request(StubRequest)
        case rules, state, reset
    }

    struct Snapshot: Sendable {
        var requests: [StubRequest]
        /// The number of the latest request; 0 before the first.
        var latest: UInt64
        /// The number of requests since the last reset that were removed.
        var dropped: UInt64
    }

    private struct State {
        var entries: [StubRequest] = []
        /// The number of entries at the beginning that were removed.
        var start = 0
        var bytes = 0
        var latest: UInt64 = 0
        var dropped: UInt64 = 0
        var observers: [(id: UInt64, send: @Sendable (Event) -> Void)] = []
        var nextObserver: UInt64 = 0

        mutating func removeFirst() {
            bytes -= entries[start].size
            start += 1
            dropped += 1
            // Shift rarely, so that an append takes constant time on average.
            if start > 1024, start * 2 > entries.count {
                entries.removeFirst(start)
                start = 0
            }
        }
    }

    private let state = Mutex(State())

    /// Adds a request and gives it a number.
    func add(_ request: consuming StubRequest) {
        var request = request
        let observers = state.withLock { state in
            state.latest += 1
            request.number = state.latest
            state.bytes += request.size
            state.entries.append(request)
            while state.entries.count - state.start > Self.entryLimit || state.bytes > Self.byteLimit {
                state.removeFirst()
            }
            return state.observers
        }
        for observer in observers { observer.send(.request(request)) }
    }

    func send(_ event: Event) {
        for observer in state.withLock({ $0.observers }) { observer.send(event) }
    }

    /// Returns at most `limit` requests with numbers above `number`, the oldest first.
    func requests(after number: UInt64 = 0, limit: Int = .max) -> Snapshot {
        state.withLock { state in
            let entries = state.entries[state.start...]
            let first = entries.first?.number ?? 0
            let skipped = number >= first ? Int(clamping: number - first + 1) : 0
            return Snapshot(
                requests: Array(entries.dropFirst(skipped).prefix(limit)), latest: state.latest,
                dropped: state.dropped)
        }
    }

    func request(_ number: UInt64) -> StubRequest? {
        let found = number == 0 ? nil : requests(after: number - 1, limit: 1).requests.first
        return found?.number == number ? found : nil
    }

    /// Removes all requests. Numbers continue.
    func removeAll() {
        state.withLock { state in
            state.entries = []
            state.start = 0
            state.bytes = 0
            state.dropped = 0
        }
    }

    /// Calls `send` for each event until it is removed. `send` must not block.
    /// - Returns: the id for ``removeObserver(_:)``; nil if there are too many observers.
    func addObserver(_ send: @escaping @Sendable (Event) -> Void) -> UInt64? {
        state.withLock { state in
            guard state.observers.count < Self.observerLimit else { return nil }
            state.nextObserver += 1
            state.observers.append((state.nextObserver, send))
            return state.nextObserver
        }
    }

    func removeObserver(_ id: UInt64) {
        state.withLock { state in state.observers.removeAll { $0.id == id } }
    }
}
