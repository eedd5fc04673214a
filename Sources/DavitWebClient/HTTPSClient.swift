#if OIDC || ACME || Webhooks || S3
internal import CCURL
internal import Synchronization

/// Sends requests with libcurl, without redirects, cookies or stored credentials.
///
/// libcurl writes to sockets that the peer may have closed, so SIGPIPE must be ignored.
package struct HTTPSClient: Sendable {
    /// Maximum duration until a connection is established, and of a request, in milliseconds.
    private let connectMilliseconds: Int
    private let totalMilliseconds: Int
    /// A file with authorities in PEM; nil for those of the system.
    private let authorities: String?
    /// Whether http URLs are allowed.
    private let allowsPlain: Bool
    /// Called at least about once a second during a request; the request ends if it returns true.
    private let isCancelled: (@Sendable () -> Bool)?
    /// Open connections for the next requests; nil if each request has a new one.
    private let idle: IdleHandles?

    /// - Parameters:
    ///   - authorities: a file with authorities in PEM; nil for those of the system.
    ///   - allowsPlain: whether http URLs are allowed, for services on this machine.
    ///   - connectMilliseconds: maximum duration until a connection is established.
    ///   - totalMilliseconds: maximum duration of a request.
    ///   - keepsConnections: whether connections stay open for further requests to the same service.
    ///   - isCancelled: called at least about once a second during a request, which ends if the result is true.
    package init(
        authorities: String?, allowsPlain: Bool, connectMilliseconds: Int, totalMilliseconds: Int,
        keepsConnections: Bool = false, isCancelled: (@Sendable () -> Bool)? = nil
    ) {
        idle = keepsConnections ? IdleHandles() : nil
        self.authorities = authorities
        self.allowsPlain = allowsPlain
        self.connectMilliseconds = connectMilliseconds
        self.totalMilliseconds = totalMilliseconds
        self.isCancelled = isCancelled
    }

    /// Must run before the first request; initializes global state of libcurl once.
    private static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Sends a request, and returns when the response is complete. Blocks.
    package func send(_ request: ServiceRequest) throws(ServiceFailure) -> ServiceResponse {
        guard Self.isReady, let handle = idle?.take() ?? CURLHandle() else {
            throw .unavailable("libcurl cannot be initialized")
        }
        defer { idle?.keep(handle) }
        let transfer = unsafe CURLTransfer(
            handle.pointer, limitBytes: request.limitBytes, isCancelled: isCancelled)
        try transfer.setNumber(CURLOPT_CONNECTTIMEOUT_MS, connectMilliseconds)
        try transfer.setNumber(CURLOPT_TIMEOUT_MS, totalMilliseconds)
        try transfer.setNumber(CURLOPT_FORBID_REUSE, idle == nil ? 1 : 0)
        try transfer.prepare(authorities: authorities, allowsPlain: allowsPlain)
        return try transfer.run(request)
    }
}

/// A handle of libcurl, with the connection of its last request. One thread uses it at a time.
@safe private final class CURLHandle: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer

    init?() {
        guard let pointer = unsafe curl_easy_init() else { return nil }
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe curl_easy_cleanup(pointer) }
}

/// The handles that no request uses.
private final class IdleHandles: Sendable {
    private let handles = Mutex<[CURLHandle]>([])
    private static let limit = 8

    func take() -> CURLHandle? { handles.withLock { $0.popLast() } }

    func keep(_ handle: CURLHandle) {
        // The connection stays open.
        unsafe curl_easy_reset(handle.pointer)
        handles.withLock { if $0.count < Self.limit { $0.append(handle) } }
    }
}

/// One request.
@safe private final class CURLTransfer {
    private let handle: UnsafeMutableRawPointer
    private let limitBytes: Int
    private let isCancelled: (@Sendable () -> Bool)?
    private var response = ServiceResponse(status: 0)
    private var isTooLong = false

    init(_ handle: UnsafeMutableRawPointer, limitBytes: Int, isCancelled: (@Sendable () -> Bool)?) {
        unsafe self.handle = handle
        self.limitBytes = limitBytes
        self.isCancelled = isCancelled
    }

    func prepare(authorities: String?, allowsPlain: Bool) throws(ServiceFailure) {
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_SSL_VERIFYPEER, 1),
            (CURLOPT_SSL_VERIFYHOST, 2), (CURLOPT_SSLVERSION, Int(davit_curl_tls_1_2)),
            (CURLOPT_DISALLOW_USERNAME_IN_URL, 1), (CURLOPT_NETRC, 0),
        ]
        for (option, value) in numbers { try setNumber(option, value) }
        try set(CURLOPT_PROTOCOLS_STR, allowsPlain ? "https,http" : "https")
        try set(CURLOPT_USERAGENT, "davit")
        if let authorities { try set(CURLOPT_CAINFO, authorities) }
        // A service on this machine is not reached through a proxy of the environment.
        if allowsPlain { try set(CURLOPT_PROXY, "") }
    }

    func run(_ request: ServiceRequest) throws(ServiceFailure) -> ServiceResponse {
        response.bytes.reserveCapacity(min(request.expectedBytes, limitBytes))
        try set(CURLOPT_URL, request.url)
        if let content = request.content {
            let code = unsafe content.withUnsafeBytes { bytes in
                unsafe davit_curl_set_content(
                    handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
            }
            try check(code)
        } else if request.isHead {
            try setNumber(CURLOPT_NOBODY, 1)
        }
        if let method = request.method { try set(CURLOPT_CUSTOMREQUEST, method) }
        if let signature = request.signature {
            try set(CURLOPT_AWS_SIGV4, "aws:amz:\(signature.region):s3")
            try set(CURLOPT_USERPWD, "\(signature.accessKey):\(signature.secretKey)")
        }
        var fields: UnsafeMutablePointer<curl_slist>?
        for field in request.fields { unsafe fields = unsafe curl_slist_append(fields, field) }
        defer { unsafe curl_slist_free_all(fields) }
        try check(unsafe davit_curl_set_fields(handle, fields))
        try setCallbacks()
        // `self` outlives the call, which is the only one that calls the functions.
        let code = unsafe curl_easy_perform(handle)
        if isTooLong { throw .tooLong(url: request.url) }
        if code == CURLE_ABORTED_BY_CALLBACK { throw .cancelled }
        guard code == CURLE_OK else {
            throw .unavailable("\(request.url): \(unsafe String(cString: curl_easy_strerror(code)))")
        }
        try check(unsafe davit_curl_status(handle, &response.status))
        return response
    }

    private func setCallbacks() throws(ServiceFailure) {
        typealias Receiver =
            @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let receive: Receiver = { bytes, size, count, context in
            guard let transfer = unsafe CURLTransfer.of(context) else { return 0 }
            return unsafe transfer.receive(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        try check(unsafe davit_curl_set_receiver(handle, receive, context))
        let readLine: Receiver = { bytes, size, count, context in
            guard let transfer = unsafe CURLTransfer.of(context) else { return 0 }
            unsafe transfer.response.read(
                line: Array(UnsafeRawBufferPointer(start: bytes, count: size * count)))
            return size * count
        }
        try check(unsafe davit_curl_set_head_receiver(handle, readLine, context))
        if isCancelled == nil { return }
        let code = unsafe davit_curl_set_progress(
            handle,
            { context, _, _, _, _ in unsafe CURLTransfer.of(context)?.isCancelled?() == true ? 1 : 0 },
            context)
        try check(code)
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> CURLTransfer? {
        unsafe context.map { unsafe Unmanaged<CURLTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Appends content. Returns another number than its length to end the transfer.
    private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        let count = bytes.count
        guard count <= limitBytes - response.bytes.count else {
            isTooLong = true
            return 0
        }
        unsafe response.bytes.append(contentsOf: bytes)
        return count
    }

    func setNumber(_ option: CURLoption, _ value: Int) throws(ServiceFailure) {
        try check(unsafe davit_curl_set_number(handle, option, value))
    }

    private func set(_ option: CURLoption, _ text: String) throws(ServiceFailure) {
        try check(unsafe davit_curl_set_text(handle, option, text))
    }

    private func check(_ code: CURLcode) throws(ServiceFailure) {
        guard code == CURLE_OK else {
            throw .unavailable("libcurl: \(unsafe String(cString: curl_easy_strerror(code)))")
        }
    }
}
#endif
