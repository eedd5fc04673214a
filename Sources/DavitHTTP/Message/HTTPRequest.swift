/// A request: its head as bytes with offsets into them, and its content as something to read.
///
/// Belongs to one connection at a time and is reused for the next request, unless somebody still holds it.
///
/// The task of its connection owns it, and nobody else writes to it: a job that is handed the request reads it
/// while that task waits. That is what makes the unchecked conformance true.
///
/// What the parser writes is not checked for overlapping access at run time either: the checks were a third
/// of the cost of a head. The compiler forgets that outside this module, so that what others use is behind
/// accessors.
public final class HTTPRequest: @unchecked Sendable {
    @safe @exclusivity(unchecked) private var values = Values()
    /// What ``target`` is; parsed in place.
    @safe @exclusivity(unchecked) var parsedTarget = RequestTarget()
    /// What ``mountPath`` is.
    @safe @exclusivity(unchecked) var parsedMountPath: [UInt8] = []

    /// The head from the request line to the empty line.
    @safe @exclusivity(unchecked) package private(set) var head: [UInt8] = []
    @safe @exclusivity(unchecked) package private(set) var lines: [FieldLine] = []
    /// One bit per ``FieldName`` that stands in `lines`, so that asking for an absent field costs nothing.
    @safe @exclusivity(unchecked) private var present = FieldNameSet()

    /// The last valid Host field that this object has seen, and what it names: clients send the same again. Nil
    /// before the first.
    @safe @exclusivity(unchecked) private var knownHost: [UInt8] = []
    @safe @exclusivity(unchecked) private var knownHostKind: HostField.Kind?

    /// An empty GET, for a parser to fill.
    public init() {}

    private struct Values {
        var method = HTTPMethod.get
        var minorVersion: UInt8 = 1
        var body: any RequestBody = EmptyRequestBody.shared
        var principal: String?
        var admittedBy: ObjectIdentifier?
        var credentialNumber: UInt64 = 0
        var isSecure = false
        var clientCertificate: ClientCertificate?
        var ends: ConnectionEnds?
        /// Nil where it is the one of `ends`.
        var peerAddress: String?
        var forwardedOrigin: ForwardedOrigin?
        var requestNumber: UInt64 = 0
        var hostKind: HostField.Kind?
        var framing = BodyFraming.none
        var expectsContinue = false
        var keepsAlive = false
    }

    /// As sent; ``HTTPMethod/rawValue`` has its text.
    public package(set) var method: HTTPMethod {
        get { values.method }
        set { values.method = newValue }
    }
    /// HTTP/1.x: the x. Other majors never get here.
    public package(set) var minorVersion: UInt8 {
        get { values.minorVersion }
        set { values.minorVersion = newValue }
    }
    /// What is asked for, below ``mountPath``; split, but not decoded. A copy: ask for it once.
    public var target: RequestTarget { parsedTarget }
    /// The prefix below which the handler is mounted, as sent and without a slash at its end; empty at the top.
    /// The path in `target` is what follows it, and empty where nothing does.
    public var mountPath: [UInt8] { parsedMountPath }
    /// As ``target`` has it, without copying that.
    package var authority: [UInt8]? { parsedTarget.authority }
    /// The content, to be read once. Middleware may put another in its place.
    public var body: any RequestBody {
        get { values.body }
        set { values.body = newValue }
    }
    /// Who is asking, once authentication has found out.
    public var principal: String? {
        get { values.principal }
        set { values.principal = newValue }
    }
    /// What let this request in, where it was looked at without a task, so that it is not looked at twice.
    package var admittedBy: ObjectIdentifier? {
        get { values.admittedBy }
        set { values.admittedBy = newValue }
    }
    /// Identifies the account that admitted this request, with the password that it had then; 0 without one. No number is
    /// used twice in a process.
    package var credentialNumber: UInt64 {
        get { values.credentialNumber }
        set { values.credentialNumber = newValue }
    }
    /// The client asks over TLS: the connection came in over it, or a trusted proxy says that its own did.
    public package(set) var isSecure: Bool {
        get { values.forwardedOrigin?.isSecure ?? values.isSecure }
        set { values.isSecure = newValue }
    }
    /// What the client has shown in the handshake of TLS: valid, and signed by an authority that the server trusts for
    /// clients. Nil without one.
    public package(set) var clientCertificate: ClientCertificate? {
        get { values.clientCertificate }
        set { values.clientCertificate = newValue }
    }
    /// The ends of the connection; nil in tests without a socket.
    package var ends: ConnectionEnds? {
        get { values.ends }
        set {
            values.ends = newValue
            values.peerAddress = nil
        }
    }
    /// This server's end of the connection; nil in tests without a socket.
    public var localAddress: NetworkAddress? { values.ends?.local }
    /// The other end of the connection, which is a proxy's where there is one; nil in tests without a socket.
    public var remoteAddress: NetworkAddress? { values.ends?.remote }
    /// Numeric address of the client, without port: of the peer, or, if that is a trusted proxy, what the proxy says.
    /// `unix:` for a local socket; "" in tests without a socket. Made when it is
    /// asked for.
    public package(set) var peerAddress: String {
        get { values.forwardedOrigin?.peerAddress ?? connectionPeerAddress }
        set { values.peerAddress = newValue }
    }
    /// As ``peerAddress``, whatever a proxy says.
    package var connectionPeerAddress: String { values.peerAddress ?? values.ends?.remote.host ?? "" }
    /// What a trusted proxy says; nil without one.
    package var forwardedOrigin: ForwardedOrigin? {
        get { values.forwardedOrigin }
        set { values.forwardedOrigin = newValue }
    }
    /// 0 until somebody has asked for ``requestID``.
    package var requestNumber: UInt64 {
        get { values.requestNumber }
        set { values.requestNumber = newValue }
    }
    /// What the Host field names; nil if there is none.
    package var hostKind: HostField.Kind? {
        get { values.hostKind }
        set { values.hostKind = newValue }
    }
    /// How the end of the content is found.
    package var framing: BodyFraming {
        get { values.framing }
        set { values.framing = newValue }
    }
    /// The client waits for a 100 before it sends the content (RFC 9110 §10.1.1).
    package var expectsContinue: Bool {
        get { values.expectsContinue }
        set { values.expectsContinue = newValue }
    }
    /// The client lets the connection live after the response (RFC 9112 §9.3).
    package var keepsAlive: Bool {
        get { values.keepsAlive }
        set { values.keepsAlive = newValue }
    }
    /// One field: where its name and its trimmed value stand in `head`.
    package struct FieldLine {
        package var name: FieldName
        package var nameStart: UInt16, nameLength: UInt16
        package var valueStart: UInt16, valueLength: UInt16

        package init(
            name: FieldName, nameStart: UInt16, nameLength: UInt16, valueStart: UInt16, valueLength: UInt16
        ) {
            self.name = name
            self.nameStart = nameStart
            self.nameLength = nameLength
            self.valueStart = valueStart
            self.valueLength = valueLength
        }
    }
}

extension HTTPRequest {
    package func append(_ line: FieldLine) {
        present.insert(line.name)
        lines.append(line)
    }

    package func keepHead(_ bytes: UnsafeRawBufferPointer) { unsafe head.append(contentsOf: bytes) }

    /// Makes a used request a new one; keeps its memory and what belongs to the connection.
    package func removeAll() {
        values.method = .get
        values.minorVersion = 1
        parsedTarget.removeAll()
        if !parsedMountPath.isEmpty { parsedMountPath = [] }
        head.removeAll(keepingCapacity: true)
        lines.removeAll(keepingCapacity: true)
        present.removeAll()
        values.body = EmptyRequestBody.shared
        values.principal = nil
        values.admittedBy = nil
        values.credentialNumber = 0
        if values.forwardedOrigin != nil { values.forwardedOrigin = nil }
        values.requestNumber = 0
        values.hostKind = nil
        values.framing = .none
        values.expectsContinue = false
        values.keepsAlive = false
    }

    /// What the one Host field names; nil if it is malformed.
    func kindOfHost() -> HostField.Kind? {
        let kind = withValue(of: .host) { value -> HostField.Kind? in
            if let knownHostKind, value.hasSameBytes(as: knownHost) { return knownHostKind }
            guard let kind = HostField.Parts(parsing: value)?.kind else { return nil }
            knownHost.removeAll(keepingCapacity: true)
            knownHost.append(copying: value)
            knownHostKind = kind
            return kind
        }
        return kind ?? nil
    }

    /// How many field lines have this name.
    public func count(of name: FieldName) -> Int {
        guard contains(name) else { return 0 }
        var count = 0
        for line in lines where line.name == name { count += 1 }
        return count
    }

    /// Whether a field of this name was sent. O(1).
    public func contains(_ name: FieldName) -> Bool { present.contains(name) }

    /// Hands the bytes of the first field with this name to `body`; nil if there is none. No copy is made.
    public func withValue<R, E: Error>(
        of name: FieldName, _ body: (borrowing Span<UInt8>) throws(E) -> R
    ) throws(E) -> R? {
        guard contains(name) else { return nil }
        for line in lines where line.name == name {
            let head = head
            return try body(head.span.extracting(line.valueRange))
        }
        return nil
    }

    /// The value of the first field with this name.
    public func bytes(of name: FieldName) -> [UInt8]? {
        guard contains(name) else { return nil }
        for line in lines where line.name == name { return Array(head[line.valueRange]) }
        return nil
    }

    /// All values of this name as one list, joined by ", " (RFC 9110 §5.3); nil if there is none.
    public func combinedBytes(of name: FieldName) -> [UInt8]? {
        guard contains(name) else { return nil }
        var combined: [UInt8]?
        for line in lines where line.name == name {
            if combined == nil {
                combined = Array(head[line.valueRange])
            } else {
                combined?.append(contentsOf: [UInt8(ascii: ","), UInt8(ascii: " ")])
                combined?.append(contentsOf: head[line.valueRange])
            }
        }
        return combined
    }

    /// The value of the first field with this name as text; bytes that are not UTF-8 are replaced.
    public func string(of name: FieldName) -> String? {
        guard contains(name) else { return nil }
        for line in lines where line.name == name {
            return String(decoding: head[line.valueRange], as: UTF8.self)
        }
        return nil
    }

    /// The value of the first field with a name that has no case in ``FieldName``; names compare without case.
    public func string(named name: String) -> String? {
        for line in lines where line.name == .other {
            let range = Int(line.nameStart)..<Int(line.nameStart) + Int(line.nameLength)
            guard head[range].count == name.utf8.count else { continue }
            if zip(head[range], name.utf8).allSatisfy({ $0.lowercasedASCII == $1.lowercasedASCII }) {
                return String(decoding: head[line.valueRange], as: UTF8.self)
            }
        }
        return nil
    }
}

extension HTTPRequest.FieldLine {
    package var valueRange: Range<Int> { Int(valueStart)..<Int(valueStart) + Int(valueLength) }
}
