internal import DavitHTTP

/// Whose failures count together: those of an IPv4 address, or of the /64 of an IPv6 address, which one subscriber
/// has whole.
package struct PeerNetwork: Hashable, Sendable {
    private let bits: UInt64
    private let isIPv4: Bool

    /// - Parameter address: numeric, as the system or a proxy writes it, perhaps with a zone. All that is no address
    ///   is one network.
    package init(of address: String) {
        var text = Array(address.utf8)
        if let zone = text.firstIndex(of: UInt8(ascii: "%")) { text.removeSubrange(zone...) }
        let groups = Self.groups(of: text)
        // ::ffff:0:0/96 are IPv4 addresses, on a socket that is for both.
        let isMapped = groups.prefix(5).allSatisfy { $0 == 0 } && groups[5] == 0xFFFF
        isIPv4 = isMapped || !text.contains(UInt8(ascii: ":"))
        let kept = isIPv4 ? groups.suffix(2) : groups.prefix(4)
        bits = kept.reduce(0) { $0 << 16 | UInt64($1) }
    }

    /// Eight groups; an IPv4 address is the last two.
    private static func groups(of text: [UInt8]) -> [UInt16] {
        var before: [UInt16] = []
        var after: [UInt16]?
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            var parsed: [UInt16] = []
            if part.isEmpty {
                // The gap; `::` at one end gives two empty parts.
                if index > 0, after == nil { after = [] }
                continue
            } else if part.contains(UInt8(ascii: ".")) {
                let octets = part.split(separator: UInt8(ascii: ".")).map { part in
                    UInt16(truncatingIfNeeded: part.withSpan { $0.decimalValue } ?? 0) & 255
                }
                guard octets.count == 4 else { continue }
                parsed = [octets[0] << 8 | octets[1], octets[2] << 8 | octets[3]]
            } else {
                parsed = [part.reduce(0) { $0 &<< 4 | UInt16($1.hexValue ?? 0) }]
            }
            if after == nil { before += parsed } else { after? += parsed }
        }
        let tail = after ?? []
        if after == nil, before.count == 2 { return [UInt16](repeating: 0, count: 6) + before }
        let gap = max(0, 8 - before.count - tail.count)
        return Array((before + [UInt16](repeating: 0, count: gap) + tail).prefix(8))
    }
}
