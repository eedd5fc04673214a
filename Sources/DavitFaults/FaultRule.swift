public import DavitHTTP

/// Faults for the requests with certain methods and paths.
public struct FaultRule: Hashable, Sendable {
    /// Selects among the requests that match a rule, which are counted from 1.
    public enum Occurrence: Hashable, Sendable {
        case always
        /// Only the request with this number.
        case nth(UInt64)
        /// Every request whose number is a multiple of this one, which must not be 0.
        case every(UInt64)
        /// Only this many requests, the first ones.
        case first(UInt64)
        /// All requests except this many, the first ones.
        case after(UInt64)
    }

    /// A response that is sent instead of that of the server.
    public struct Refusal: Hashable, Sendable {
        public var status: HTTPStatus
        /// The value of `Retry-After` in seconds, if any.
        public var retryAfterSeconds: Int?
        /// The part of the request content that is received first, from 0 to 1. Nil to respond before the
        /// server sees the request.
        public var receivedPart: Double?

        public init(_ status: HTTPStatus, retryAfterSeconds: Int? = nil, receivedPart: Double? = nil) {
            self.status = status
            self.retryAfterSeconds = retryAfterSeconds
            self.receivedPart = receivedPart
        }
    }

    /// The methods; empty for all.
    public var methods: [HTTPMethod]
    public var path: PathGlob
    public var occurrence = Occurrence.always
    /// The probability that the faults apply to a request that is selected otherwise, from 0 to 1.
    public var probability = 1.0

    /// A delay before the server sees the request.
    public var delay: FaultDelay?
    /// A delay before the first byte of the response.
    public var firstByteDelay: FaultDelay?
    /// The rates at which content is sent and received, in bytes per second from 1 on.
    public var downBytesPerSecond: Int?, upBytesPerSecond: Int?
    public var refusal: Refusal?
    /// The end of the connection without a response. The server does not see the request.
    public var endWithoutResponse: DeliveryShape.End.Manner?
    /// Whether the locks that a request submits are removed before the server sees it (RFC 4918 §7.5).
    public var losesLocks = false
    /// The premature end of a response.
    public var end: DeliveryShape.End?
    public var hasMalformedHead = false
    /// Added to the value of `Content-Length`.
    public var lengthError: Int64 = 0

    public init(_ methods: [HTTPMethod] = [], _ path: PathGlob = .all) {
        self.methods = methods
        self.path = path
    }

    /// Sets the rates and the latency of a profile. Its losses are a separate rule: see
    /// ``losses(of:for:_:)``.
    public mutating func apply(_ profile: NetworkProfile) {
        downBytesPerSecond = profile.downBytesPerSecond
        upBytesPerSecond = profile.upBytesPerSecond
        firstByteDelay = profile.latency
    }

    /// Returns a rule for the responses that a profile loses; nil if it loses none.
    public static func losses(
        of profile: NetworkProfile, for methods: [HTTPMethod] = [], _ path: PathGlob = .all
    ) -> FaultRule? {
        guard profile.resetProbability > 0 else { return nil }
        var rule = FaultRule(methods, path)
        rule.probability = profile.resetProbability
        rule.end = DeliveryShape.End(afterBytes: 0, .reset)
        return rule
    }

    func matches(_ method: HTTPMethod, _ path: ResourcePath) -> Bool {
        (methods.isEmpty || methods.contains(method)) && self.path.matches(path)
    }

    func selects(_ number: UInt64) -> Bool {
        switch occurrence {
        case .always: true
        case .nth(let only): number == only
        case .every(let step): number.isMultiple(of: step)
        case .first(let count): number <= count
        case .after(let count): number > count
        }
    }
}
