/// A request: its head as bytes with offsets into them, and its content as a stream.
///
/// Belongs to one connection at a time and is reused for the next request unless it is still referenced.
///
/// `@unchecked Sendable` because its uses do not overlap: the task of its connection waits while work on
/// other threads uses the request.
///
/// Runtime exclusivity checks are disabled for state that the parser writes, because they took a third of the
/// time to parse a head. The compiler does not apply the attribute outside this module, so other modules use
/// accessors.
public final class HTTPRequest: @unchecked Sendable {
    @safe @exclusivity(unchecked) private var values = Values()
    /// Storage of ``target``; parsed in place.
    @safe @exclusivity(unchecked) var parsedTarget = RequestTarget()
    /// Storage of ``mountPath``.
    @safe @exclusivity(unchecked) var parsedMountPath: [UInt8] = []

    /// The head from the request line to the empty line.
    @safe @exclusivity(unchecked) package private(set) var head: [UInt8] = []
    @safe @exclusivity(unchecked) package private(set) var lines: [FieldLine] = []
    /// One bit per ``FieldName`` present in `lines`, so that looking up an absent field is cheap.
    @safe @exclusivity(unchecked) private var present = FieldNameSet()

    /// The last valid Host field that this object parsed, and its kind. Cached because clients usually send
    /// the same Host again; the kind is nil before the first valid Host.
    @safe @exclusivity(unchecked) private var knownHost: [UInt8] = []
    @safe @exclusivity(unchecked) private var knownHostKind: HostField.Kind?

    /// Creates an empty GET request for a parser to fill.
    package init() {}

    private struct Values {
        var method = HTTPMethod.get
        var minorVersion: UInt8 = 1
        var body: any RequestBody = EmptyRequestBody.shared
        var principal: String?
        var credentialNumber: UInt64 = 0
        var identityDetails: (any AnyObject & Sendable)?
        var memory = RequestMemory()
        var isSecure = false
        var clientCertificate: ClientCertificate?
        var endpoints: ConnectionEndpoints?
        /// Overrides the remote address of `endpoints`; nil if not overridden.
        var peerAddress: String?
        /// A reference, because most requests have none, and each access would copy the value.
        var forwarded: ForwardedReference?
        var requestNumber: UInt64 = 0
        var parameters = PathParameters()
        var hostKind: HostField.Kind?
        var framing = BodyFraming.none
        var expectsContinue = false
        var keepsAlive = false
        var hasAccountPage = false
        var hasTrustPage = false
        var completion: (any RequestCompletion)?
        var pacer: TransferPacer?
    }

    /// The method as sent; ``HTTPMethod/rawValue`` is its text.
    public package(set) var method: HTTPMethod {
        get { values.method }
        set { values.method = newValue }
    }
    /// The minor version of HTTP/1.x. Requests with other major versions are rejected.
    public package(set) var minorVersion: UInt8 {
        get { values.minorVersion }
        set { values.minorVersion = newValue }
    }
    /// The request target relative to ``mountPath``, split but not decoded. Returns a copy; avoid repeated
    /// access.
    public var target: RequestTarget { parsedTarget }
    /// The prefix at which the handler is mounted, as sent and without a trailing slash; empty at the root.
    /// The path in `target` is the remainder and may be empty.
    public var mountPath: [UInt8] { parsedMountPath }
    /// The form of ``target``, without copying the target; likewise the following properties.
    package var targetForm: RequestTarget.Form { parsedTarget.form }
    package var namesSecureScheme: Bool { parsedTarget.namesSecureScheme }
    package var rawPath: [UInt8] { parsedTarget.rawPath }
    /// Whether the handler is mounted below the root: whether ``mountPath`` is not empty.
    package var isMounted: Bool { !parsedMountPath.isEmpty }
    /// Whether the target has a query, which may be empty.
    package var hasQuery: Bool { parsedTarget.rawQuery != nil }
    package var authority: [UInt8]? { parsedTarget.authority }
    /// The content, which can be read once; routes read it with a body reader.
    ///
    /// Set by the connection. A middleware may replace it before it calls the next handler, for example to
    /// decode or to limit the content; do not set it elsewhere.
    public var body: any RequestBody {
        get { values.body }
        set { values.body = newValue }
    }
    /// The name of the authenticated account; nil if the request has not been authenticated.
    ///
    /// Set by the authentication of the server, or by a middleware that authenticates clients itself, before
    /// it calls the next handler. Shares and the access log use it; do not set it elsewhere.
    public var principal: String? {
        get { values.principal }
        set {
            values.principal = newValue
            // Details of another login must not apply to this one.
            if values.identityDetails != nil { values.identityDetails = nil }
        }
    }
    /// What the authentication determined in addition to ``principal``; nil if there is nothing. Setting
    /// ``principal`` removes it, so it must be set after the name.
    package var identityDetails: (any AnyObject & Sendable)? {
        get { values.identityDetails }
        set { values.identityDetails = newValue }
    }
    /// Identifies the account and the password with which this request was authenticated; 0 without an
    /// account. Numbers are unique within a process.
    package var credentialNumber: UInt64 {
        get { values.credentialNumber }
        set { values.credentialNumber = newValue }
    }
    /// Whether the server has a page for the account of this request. Set for each request by servers with
    /// such pages, so it is not reset with the request.
    package var hasAccountPage: Bool {
        get { values.hasAccountPage }
        set { values.hasAccountPage = newValue }
    }
    /// Whether the server has its own authority, and a page on which devices can trust it.
    package var hasTrustPage: Bool {
        get { values.hasTrustPage }
        set { values.hasTrustPage = newValue }
    }
    /// What is notified when this request ends; nil for nothing. Set at most once for each request.
    package var completion: (any RequestCompletion)? {
        get { values.completion }
        set { values.completion = newValue }
    }
    /// Limits how fast the content of the request and of the response is transferred; nil for no limit.
    package var pacer: TransferPacer? {
        get { values.pacer }
        set { values.pacer = newValue }
    }
    /// Whether there is a ``pacer``, because asking for it costs more.
    package var isPaced: Bool { values.pacer != nil }
    /// The state that the connection keeps for its next request. Remains when the object is reused.
    package var memory: RequestMemory {
        _read { yield values.memory }
        _modify { yield &values.memory }
    }
    /// Whether the client used TLS, on this connection or, as reported by a trusted proxy, to the proxy.
    public package(set) var isSecure: Bool {
        get { values.forwarded?.origin.isSecure ?? values.isSecure }
        set { values.isSecure = newValue }
    }
    /// The certificate that the client presented in the TLS handshake, which was issued by an authority that
    /// the server trusts for clients. Nil without a certificate.
    public package(set) var clientCertificate: ClientCertificate? {
        get { values.clientCertificate }
        set { values.clientCertificate = newValue }
    }
    /// The endpoints of the connection; nil in tests without a socket.
    package var endpoints: ConnectionEndpoints? {
        get { values.endpoints }
        set {
            values.endpoints = newValue
            values.peerAddress = nil
        }
    }
    /// The server's endpoint of the connection; nil in tests without a socket.
    public var localAddress: NetworkAddress? { values.endpoints?.local }
    /// The peer's endpoint of the connection, which may be a proxy; nil in tests without a socket.
    public var remoteAddress: NetworkAddress? { values.endpoints?.remote }
    /// The numeric client address without port: the peer's address or, if the peer is a trusted proxy, the
    /// address that the proxy reports. `unix:` for a Unix socket; empty in tests without a socket. Computed
    /// on each access.
    public package(set) var peerAddress: String {
        get { values.forwarded?.origin.peerAddress ?? connectionPeerAddress }
        set { values.peerAddress = newValue }
    }
    /// Like ``peerAddress``, ignoring proxies.
    package var connectionPeerAddress: String { values.peerAddress ?? values.endpoints?.remote.host ?? "" }
    /// The origin reported by a trusted proxy; nil without one.
    package var forwardedOrigin: ForwardedOrigin? {
        get { values.forwarded?.origin }
        set { values.forwarded = newValue.map { ForwardedReference($0) } }
    }
    /// The values of the path parameters of the route, such as `id` in `/users/{id}`; empty before routing and
    /// for routes without parameters. Set by the router.
    public package(set) var parameters: PathParameters {
        get { values.parameters }
        set { values.parameters = newValue }
    }
    /// The user whom a trusted proxy has authenticated; nil if it reports none.
    package var forwardedIdentity: ForwardedIdentity? { values.forwarded?.origin.identity }
    /// The host that a trusted proxy reports; nil if it reports none.
    package var forwardedHost: [UInt8]? { values.forwarded?.origin.host }
    /// Whether a trusted proxy has sent the request.
    package var isForwarded: Bool { values.forwarded != nil }
    /// 0 until ``requestID`` is first used.
    package var requestNumber: UInt64 {
        get { values.requestNumber }
        set { values.requestNumber = newValue }
    }
    /// The kind of host in the Host field; nil without Host.
    package var hostKind: HostField.Kind? {
        get { values.hostKind }
        set { values.hostKind = newValue }
    }
    /// How the end of the content is determined.
    package var framing: BodyFraming {
        get { values.framing }
        set { values.framing = newValue }
    }
    /// Whether the client waits for a 100 response before it sends the content (RFC 9110 §10.1.1).
    package var expectsContinue: Bool {
        get { values.expectsContinue }
        set { values.expectsContinue = newValue }
    }
    /// Whether the client keeps the connection open after the response (RFC 9112 §9.3).
    package var keepsAlive: Bool {
        get { values.keepsAlive }
        set { values.keepsAlive = newValue }
    }
    /// One field: the positions of its name and its trimmed value in `head`.
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

    /// Removes fields. Their bytes remain in ``head``.
    package func removeLines(where isRemoved: (FieldLine, [UInt8]) -> Bool) {
        let head = head
        lines.removeAll { isRemoved($0, head) }
    }

    package func keepHead(_ bytes: UnsafeRawBufferPointer) { unsafe head.append(contentsOf: bytes) }

    /// Called by the connection when the response has been sent, or cannot be sent completely. Further calls have no effect.
    package func didEnd() {
        guard let completion = values.completion else { return }
        values.completion = nil
        completion.requestDidEnd()
    }

    /// Releases what supplies the content.
    package func removeBody() {
        // Storing the reference again would write to an object that all threads share.
        if values.body !== EmptyRequestBody.shared { values.body = EmptyRequestBody.shared }
    }

    /// Resets a used request; keeps its memory and the state of the connection.
    package func removeAll() {
        values.method = .get
        values.minorVersion = 1
        parsedTarget.removeAll()
        if !parsedMountPath.isEmpty { parsedMountPath = [] }
        head.removeAll(keepingCapacity: true)
        lines.removeAll(keepingCapacity: true)
        present.removeAll()
        removeBody()
        values.principal = nil
        values.credentialNumber = 0
        if values.identityDetails != nil { values.identityDetails = nil }
        if values.pacer != nil { values.pacer = nil }
        if values.forwarded != nil { values.forwarded = nil }
        values.requestNumber = 0
        if !values.parameters.isEmpty { values.parameters = PathParameters() }
        values.hostKind = nil
        values.framing = .none
        values.expectsContinue = false
        values.keepsAlive = false
    }

    /// Returns the kind of host in the value of a Host field; nil if the value is malformed.
    func kindOfHost(_ value: borrowing Span<UInt8>) -> HostField.Kind? {
        if let knownHostKind, value.hasSameBytes(as: knownHost) { return knownHostKind }
        guard let kind = HostField.Parts(parsing: value)?.kind else { return nil }
        knownHost.removeAll(keepingCapacity: true)
        knownHost.append(copying: value)
        knownHostKind = kind
        return kind
    }

    /// Returns the number of field lines with this name.
    package func count(of name: FieldName) -> Int {
        guard contains(name) else { return 0 }
        var count = 0
        for line in lines where line.name == name { count += 1 }
        return count
    }

    /// Whether a field with this name was sent. O(1).
    package func contains(_ name: FieldName) -> Bool { present.contains(name) }

    /// Calls `body` with the value of the first field with this name, without copying it; nil if there is
    /// none.
    public func withValue<R, E: Error>(
        of name: FieldName, _ body: (borrowing Span<UInt8>) throws(E) -> R
    ) throws(E) -> R? {
        guard contains(name) else { return nil }
        guard let index = lines.firstIndex(where: { $0.name == name }) else { return nil }
        let range = lines[index].valueRange
        let head = head
        return try body(head.span.extracting(range))
    }

    /// Like ``withValue(of:_:)``, but nil also if there are several fields with this name.
    package func withOnlyValue<R, E: Error>(
        of name: FieldName, _ body: (borrowing Span<UInt8>) throws(E) -> R
    ) throws(E) -> R? {
        guard contains(name) else { return nil }
        // By index, because iterating over the array would retain it.
        var found: Int?
        for index in lines.indices where lines[index].name == name {
            if found != nil { return nil }
            found = index
        }
        guard let found else { return nil }
        let only = lines[found].valueRange
        let head = head
        return try body(head.span.extracting(only))
    }

    /// Returns the value of the first field with this name.
    package func bytes(of name: FieldName) -> [UInt8]? {
        guard contains(name) else { return nil }
        for line in lines where line.name == name { return Array(head[line.valueRange]) }
        return nil
    }

    /// Returns all values of fields with this name, joined by ", " (RFC 9110 §5.3); nil if there is none.
    package func combinedBytes(of name: FieldName) -> [UInt8]? {
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

    /// Returns the value of the first field with this name as text; invalid UTF-8 is replaced.
    package func string(of name: FieldName) -> String? {
        guard contains(name) else { return nil }
        for line in lines where line.name == name {
            return String(decoding: head[line.valueRange], as: UTF8.self)
        }
        return nil
    }

    /// Returns the value of the first field with a name that has no case in ``FieldName``; names are compared
    /// case-insensitively.
    package func string(named name: String) -> String? {
        for line in lines where line.name == .other {
            let range = line.nameRange
            guard head[range].count == name.utf8.count else { continue }
            if zip(head[range], name.utf8).allSatisfy({ $0.lowercasedASCII == $1.lowercasedASCII }) {
                return String(decoding: head[line.valueRange], as: UTF8.self)
            }
        }
        return nil
    }
}

extension HTTPRequest.FieldLine {
    package var nameRange: Range<Int> { Int(nameStart)..<Int(nameStart) + Int(nameLength) }
    package var valueRange: Range<Int> { Int(valueStart)..<Int(valueStart) + Int(valueLength) }
}
