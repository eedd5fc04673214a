import DavitHTTP

func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

/// Parses a request with the given field lines.
func request(_ method: String = "GET", _ target: String = "/", fields: [String] = []) throws -> HTTPRequest {
    let lines = ["\(method) \(target) HTTP/1.1", "Host: localhost"] + fields + ["", ""]
    return try HTTPRequest(parsing: Array(lines.joined(separator: "\r\n").utf8))
}

/// A reproducible random number generator (linear congruential, using the high bits).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        var value: UInt64 = 0
        for _ in 0..<2 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            value = value << 32 | state >> 32
        }
        return value
    }
}
