#if OIDC
internal import CCURL

/// Sends requests with libcurl: each on a new connection, without redirects, cookies or stored credentials.
struct HTTPSClient: OIDCFetcher {
    /// Maximum duration until a connection is established, and of a request, in milliseconds. Two requests must fit into the
    /// deadline for an answer.
    static let connectMilliseconds = 3_000
    static let totalMilliseconds = 4_500

    /// A file with authorities in PEM; nil for those of the system.
    let authorities: String?
    /// Whether http URLs are allowed.
    let allowsPlain: Bool

    /// Must run before the first request; initializes global state of libcurl once.
    private static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    func fetch(_ request: OIDCRequest) throws(OIDCError) -> OIDCResponse {
        guard Self.isReady, let handle = unsafe curl_easy_init() else {
            throw .unavailable("libcurl cannot be initialized")
        }
        defer { unsafe curl_easy_cleanup(handle) }
        let transfer = unsafe CURLTransfer(handle)
        try transfer.prepare(authorities: authorities, allowsPlain: allowsPlain)
        return try transfer.run(request)
    }
}

/// One request.
@safe private final class CURLTransfer {
    private let handle: UnsafeMutableRawPointer
    private var content: [UInt8] = []
    private var limitBytes = 0
    private var isTooLong = false

    init(_ handle: UnsafeMutableRawPointer) { unsafe self.handle = handle }

    func prepare(authorities: String?, allowsPlain: Bool) throws(OIDCError) {
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_SSL_VERIFYPEER, 1),
            (CURLOPT_SSL_VERIFYHOST, 2), (CURLOPT_SSLVERSION, Int(davit_curl_tls_1_2)),
            (CURLOPT_CONNECTTIMEOUT_MS, HTTPSClient.connectMilliseconds),
            (CURLOPT_TIMEOUT_MS, HTTPSClient.totalMilliseconds), (CURLOPT_DISALLOW_USERNAME_IN_URL, 1),
            (CURLOPT_FORBID_REUSE, 1), (CURLOPT_NETRC, 0),
        ]
        for (option, value) in numbers { try check(unsafe davit_curl_set_number(handle, option, value)) }
        try set(CURLOPT_PROTOCOLS_STR, allowsPlain ? "https,http" : "https")
        try set(CURLOPT_USERAGENT, "davit")
        if let authorities { try set(CURLOPT_CAINFO, authorities) }
        // A provider on this machine is not reached through a proxy of the environment.
        if allowsPlain { try set(CURLOPT_PROXY, "") }
    }

    func run(_ request: OIDCRequest) throws(OIDCError) -> OIDCResponse {
        limitBytes = request.limitBytes
        try set(CURLOPT_URL, request.url)
        if let form = request.form {
            let code = unsafe form.withUnsafeBytes { bytes in
                unsafe davit_curl_set_content(
                    handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
            }
            try check(code)
        }
        var fields = unsafe curl_slist_append(nil, "Accept: application/json")
        if let authorization = request.authorization {
            unsafe fields = unsafe curl_slist_append(fields, "Authorization: \(authorization)")
        }
        defer { unsafe curl_slist_free_all(fields) }
        try check(unsafe davit_curl_set_fields(handle, fields))
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let receive:
            @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
                bytes, size, count, context in
                guard let context = unsafe context else { return 0 }
                let transfer = unsafe Unmanaged<CURLTransfer>.fromOpaque(context).takeUnretainedValue()
                return unsafe transfer.receive(UnsafeRawBufferPointer(start: bytes, count: size * count))
            }
        try check(unsafe davit_curl_set_receiver(handle, receive, context))
        // `self` outlives the call, which is the only one that calls the function.
        let code = unsafe curl_easy_perform(handle)
        if isTooLong { throw .invalid("the response of \(request.url) is too long") }
        guard code == CURLE_OK else {
            throw .unavailable("\(request.url): \(unsafe String(cString: curl_easy_strerror(code)))")
        }
        var status = 0
        try check(unsafe davit_curl_status(handle, &status))
        return OIDCResponse(status: status, bytes: content)
    }

    /// Appends content. Returns another number than its length to end the transfer.
    private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        let count = bytes.count
        guard count <= limitBytes - content.count else {
            isTooLong = true
            return 0
        }
        unsafe content.append(contentsOf: bytes)
        return count
    }

    private func set(_ option: CURLoption, _ text: String) throws(OIDCError) {
        try check(unsafe davit_curl_set_text(handle, option, text))
    }

    private func check(_ code: CURLcode) throws(OIDCError) {
        guard code == CURLE_OK else {
            throw .unavailable("libcurl: \(unsafe String(cString: curl_easy_strerror(code)))")
        }
    }
}
#endif
