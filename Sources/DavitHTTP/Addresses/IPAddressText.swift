/// Parsers for textual IP addresses (RFC 3986 §3.2.2).
enum IPAddressText {
    /// Parses `IPv4address`: four decimal octets without leading zeros. Returns nil for anything else.
    static func ipv4(_ text: borrowing Span<UInt8>) -> UInt32? {
        guard text.count >= 7, text.count <= 15 else { return nil }
        var address: UInt32 = 0
        var octets = 0
        var start = 0
        for index in 0...text.count where index == text.count || text[index] == UInt8(ascii: ".") {
            let octet = text.extracting(start..<index)
            guard octets < 4, octet.count <= 3, let value = octet.decimalValue, value <= 255 else {
                return nil
            }
            guard octet.count == 1 || octet[0] != UInt8(ascii: "0") else { return nil }
            address = address << 8 | UInt32(value)
            octets += 1
            start = index + 1
        }
        return octets == 4 ? address : nil
    }

    /// Parses `IPv6address`: eight groups, with `::` at most once for one or more zero groups, and optionally
    /// an IPv4 address in place of the last two. Zone identifiers are rejected, because they are meaningful
    /// only on the local host.
    static func ipv6(_ text: borrowing Span<UInt8>) -> (high: UInt64, low: UInt64)? {
        guard text.count >= 2, text.count <= 45 else { return nil }
        var groups = Groups()
        var index = 0
        if text[0] == UInt8(ascii: ":") {
            guard text[1] == UInt8(ascii: ":") else { return nil }
            groups.beginGap()
            index = 2
        }
        while index < text.count {
            let start = index
            while index < text.count, text[index] != UInt8(ascii: ":") { index += 1 }
            let group = text.extracting(start..<index)
            if index == text.count, let address = ipv4(group) {
                groups.append(UInt16(address >> 16))
                groups.append(UInt16(truncatingIfNeeded: address))
                break
            }
            guard let value = hexGroup(group) else { return nil }
            groups.append(value)
            if index == text.count { break }
            index += 1  // Skip the colon.
            if index == text.count { return nil }
            if text[index] == UInt8(ascii: ":") {
                if groups.hasGap { return nil }
                groups.beginGap()
                index += 1
            }
        }
        return groups.address
    }

    private static func hexGroup(_ group: borrowing Span<UInt8>) -> UInt16? {
        guard group.count >= 1, group.count <= 4 else { return nil }
        var value: UInt16 = 0
        for index in 0..<group.count {
            guard let digit = group[index].hexValue else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    /// The groups of an IPv6 address before and after the gap. If there are too many groups, the first ones
    /// are lost, and ``address`` is nil.
    private struct Groups {
        private var front: (high: UInt64, low: UInt64) = (0, 0)
        private var behindGap: (high: UInt64, low: UInt64) = (0, 0)
        private var frontCount = 0
        private var behindCount = 0
        private(set) var hasGap = false

        mutating func beginGap() { hasGap = true }

        mutating func append(_ group: UInt16) {
            if hasGap {
                behindGap = Self.shifted(behindGap, by: 1)
                behindGap.low |= UInt64(group)
                behindCount += 1
            } else {
                front = Self.shifted(front, by: 1)
                front.low |= UInt64(group)
                frontCount += 1
            }
        }

        /// The complete address; nil if there are too many or too few groups.
        var address: (high: UInt64, low: UInt64)? {
            let count = frontCount + behindCount
            guard hasGap ? count <= 7 : count == 8 else { return nil }
            let first = Self.shifted(front, by: 8 - frontCount)
            return (first.high | behindGap.high, first.low | behindGap.low)
        }

        private static func shifted(
            _ value: (high: UInt64, low: UInt64), by groups: Int
        ) -> (high: UInt64, low: UInt64) {
            let bits = UInt64(groups) * 16
            // Shifting by the width or more yields zero.
            let carried = bits == 0 ? 0 : bits <= 64 ? value.low >> (64 - bits) : value.low << (bits - 64)
            return (value.high << bits | carried, value.low << bits)
        }
    }
}
