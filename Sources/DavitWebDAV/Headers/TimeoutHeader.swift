/// The lock timeouts requested by a client, in order of preference (RFC 4918 §10.7).
public struct TimeoutHeader: Hashable, Sendable {
    public enum RequestedTimeout: Hashable, Sendable {
        case infinite
        /// A timeout of 0 to 2³²−1 seconds.
        case seconds(Int64)
    }

    public let requestedTimeouts: [RequestedTimeout]

    public init(requestedTimeouts: [RequestedTimeout]) { self.requestedTimeouts = requestedTimeouts }

    /// Parses the value of a Timeout field. Unknown list members, such as the `Seconds-N` of KIO, are
    /// skipped, because the field is only a request and never an error. Numbers above 2³²−1 are treated as
    /// 2³²−1.
    public static func parse(_ value: Span<UInt8>) -> TimeoutHeader {
        let members = FieldText.array(value).split(separator: UInt8(ascii: ","))
        return TimeoutHeader(requestedTimeouts: members.compactMap(requestedTimeout))
    }

    /// Returns the timeout to grant, in seconds: the first requested one, limited to 1 through `maximum`, or
    /// `standard` if there is none. Always finite, because git treats `Infinite` in a response as an error.
    public func granted(default standard: Int64, maximum: Int64) -> Int64 {
        let wanted: Int64 =
            switch requestedTimeouts.first {
            case .infinite: maximum
            case .seconds(let seconds): seconds
            case nil: standard
            }
        return max(1, min(wanted, maximum))
    }

    private static func requestedTimeout(_ member: ArraySlice<UInt8>) -> RequestedTimeout? {
        let word = FieldText(bytes: member).lowercased
        if word == "infinite" { return .infinite }
        guard word.hasPrefix("second-") else { return nil }
        let digits = word.utf8.dropFirst(7)
        guard !digits.isEmpty else { return nil }
        var seconds: Int64 = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            seconds = min(seconds * 10 + Int64(digit - UInt8(ascii: "0")), Int64(UInt32.max))
        }
        return .seconds(seconds)
    }
}
