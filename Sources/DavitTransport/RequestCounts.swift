internal import DavitHTTP

/// The numbers of responses, by method and class of status, and the distributions of their durations and
/// sizes: a table of fixed size.
///
/// Each event loop has its own table, which only its thread changes, so that counting needs neither locks nor
/// atomic operations nor allocations. All indices are computed from constants and from `kind`, which is in
/// range. ``HTTPServer/pollLoops(_:)`` adds up the tables.
package struct RequestCounts: Equatable, Sendable {
    /// The outcome of a request.
    package enum Outcome: Int, CaseIterable, Sendable {
        case success, redirection, clientError, serverError
        /// The connection ended before a response was sent.
        case aborted

        init(_ status: HTTPStatus?) {
            guard let code = status?.code else {
                self = .aborted
                return
            }
            self =
                code < 300 ? .success : code < 400 ? .redirection : code < 500 ? .clientError : .serverError
        }

        /// The value of the label `status`.
        package var text: String {
            switch self {
            case .success: "2xx"
            case .redirection: "3xx"
            case .clientError: "4xx"
            case .serverError: "5xx"
            case .aborted: "aborted"
            }
        }
    }

    /// A distribution: how many values are at most each bound, and their sum.
    package struct Distribution: Equatable, Sendable {
        /// The number of values in each interval; the last one has no upper bound.
        package var counts: [UInt64]
        package var sum: UInt64
    }

    /// The upper bounds of durations in nanoseconds.
    package static let durationBounds: [Int64] = [
        1_000_000, 5_000_000, 25_000_000, 100_000_000, 500_000_000, 2_500_000_000, 10_000_000_000,
        60_000_000_000,
    ]
    /// The upper bounds of sizes in bytes.
    package static let sizeBounds: [Int64] = [
        1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20, 1 << 30,
    ]

    // The layout: for each method, the outcomes, the intervals of durations and their sum; then the intervals
    // and sums of the sizes of request and response content.
    private static var outcomeCount: Int { 5 }
    private static var durationCount: Int { 9 }
    private static var sizeCount: Int { 7 }
    private static var methodStride: Int { outcomeCount + durationCount + 1 }
    private static var requestSizes: Int { HTTPMethod.kindCount * methodStride }
    private static var responseSizes: Int { requestSizes + sizeCount + 1 }
    private static var length: Int { responseSizes + sizeCount + 1 }

    private var values: [UInt64]

    package init() { values = Array(repeating: 0, count: Self.length) }

    /// Counts a response.
    /// - Parameters:
    ///   - kind: the ``DavitHTTP/HTTPMethod/kind`` of the request.
    ///   - status: nil if no response was sent.
    ///   - nanoseconds: the time from the arrival of the request head to the end of the response.
    ///   - sent: the number of bytes of response content.
    ///   - received: the number of bytes of request content; nil if the request has none.
    mutating func count(kind: Int, _ status: HTTPStatus?, nanoseconds: Int64, sent: Int64, received: Int64?) {
        let base = kind * Self.methodStride
        let durations = base + Self.outcomeCount
        unsafe values.withUnsafeMutableBufferPointer { values in
            unsafe values[base + Outcome(status).rawValue] &+= 1
            unsafe values[durations + Self.interval(ofDuration: nanoseconds)] &+= 1
            unsafe values[durations + Self.durationCount] &+= UInt64(max(0, nanoseconds))
            unsafe values[Self.responseSizes + Self.interval(ofSize: sent)] &+= 1
            unsafe values[Self.responseSizes + Self.sizeCount] &+= UInt64(max(0, sent))
            guard let received else { return }
            unsafe values[Self.requestSizes + Self.interval(ofSize: received)] &+= 1
            unsafe values[Self.requestSizes + Self.sizeCount] &+= UInt64(max(0, received))
        }
    }

    // Comparisons with constants, in the order of frequency, are faster than a search in an array.
    private static func interval(ofDuration nanoseconds: Int64) -> Int {
        if nanoseconds <= 1_000_000 { return 0 }
        return durationBounds.firstIndex { nanoseconds <= $0 } ?? durationBounds.count
    }

    private static func interval(ofSize bytes: Int64) -> Int {
        if bytes <= 1 << 10 { return 0 }
        if bytes <= 16 << 10 { return 1 }
        return sizeBounds.firstIndex { bytes <= $0 } ?? sizeBounds.count
    }

    package static func += (a: inout Self, b: Self) {
        for index in a.values.indices { a.values[index] &+= b.values[index] }
    }

    /// Returns a copy with storage of its own, so that later changes of this table do not have to copy it.
    func copied() -> RequestCounts {
        var copy = RequestCounts()
        copy += self
        return copy
    }

    /// The number of requests with a method of this kind.
    package func requests(kind: Int, _ outcome: Outcome) -> UInt64 {
        values[kind * Self.methodStride + outcome.rawValue]
    }

    /// The durations of requests with a method of this kind, in nanoseconds.
    package func durations(kind: Int) -> Distribution {
        distribution(at: kind * Self.methodStride + Self.outcomeCount, Self.durationCount)
    }

    /// The sizes of the content of requests that have content, in bytes.
    package var requestSizes: Distribution { distribution(at: Self.requestSizes, Self.sizeCount) }

    /// The sizes of the content of responses, in bytes.
    package var responseSizes: Distribution { distribution(at: Self.responseSizes, Self.sizeCount) }

    private func distribution(at start: Int, _ count: Int) -> Distribution {
        Distribution(counts: Array(values[start..<start + count]), sum: values[start + count])
    }
}
