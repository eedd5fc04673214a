internal import DavitHTTP
internal import DavitServer
internal import DavitSystem

/// How far a response has got.
struct ResponseProgress {
    /// Set when the head has been composed: from then on nothing else can be answered.
    var status: HTTPStatus?
    /// Bytes of content handed to the system or composed.
    var contentBytes: Int64 = 0
    private var start: Int64 = 0

    init(start: Int64 = 0) { self.start = start }

    func record(of request: HTTPRequest?, status: HTTPStatus?, peer: String, isComplete: Bool) -> AccessRecord
    {
        var target: [UInt8] = []
        if let request {
            target = request.target.form == .asterisk ? [UInt8(ascii: "*")] : request.target.rawPath
            if let query = request.target.rawQuery { target += [UInt8(ascii: "?")] + query }
        }
        return AccessRecord(
            method: request?.method, target: target, minorVersion: request?.minorVersion ?? 1, status: status,
            bytesSent: contentBytes, duration: .nanoseconds(Clock.now() - start),
            principal: request?.principal,
            peer: peer, isComplete: isComplete)
    }
}
