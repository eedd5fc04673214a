/// The grammar of IP addresses as text (RFC 3986 §3.2.2). Says what is one; does not convert.
enum IPAddressText {
    /// `IPv4address`: four octets, decimal, without leading zeros.
    static func isIPv4(_ text: borrowing Span<UInt8>) -> Bool {
        guard text.count >= 7, text.count <= 15 else { return false }
        var octets = 0
        var start = 0
        for index in 0...text.count where index == text.count || text[index] == UInt8(ascii: ".") {
            let octet = text.extracting(start..<index)
            guard octet.count <= 3, let value = octet.decimalValue, value <= 255 else { return false }
            guard octet.count == 1 || octet[0] != UInt8(ascii: "0") else { return false }
            octets += 1
            start = index + 1
        }
        return octets == 4
    }

    /// `IPv6address`: eight groups, `::` once for one or more of zero, an IPv4 address for the last two.
    /// Zone identifiers are refused: they mean nothing to another host.
    static func isIPv6(_ text: borrowing Span<UInt8>) -> Bool {
        guard text.count >= 2, text.count <= 45 else { return false }
        var groups = 0
        var hasGap = false
        var index = 0
        if text[0] == UInt8(ascii: ":") {
            guard text[1] == UInt8(ascii: ":") else { return false }
            hasGap = true
            index = 2
        }
        while index < text.count {
            let start = index
            while index < text.count, text[index] != UInt8(ascii: ":") { index += 1 }
            let group = text.extracting(start..<index)
            if index == text.count, isIPv4(group) {
                groups += 2
                break
            }
            guard isHexGroup(group) else { return false }
            groups += 1
            if index == text.count { break }
            index += 1  // the colon
            if index == text.count { return false }
            if text[index] == UInt8(ascii: ":") {
                if hasGap { return false }
                hasGap = true
                index += 1
            }
        }
        return hasGap ? groups <= 7 : groups == 8
    }

    private static func isHexGroup(_ group: borrowing Span<UInt8>) -> Bool {
        guard group.count >= 1, group.count <= 4 else { return false }
        for index in 0..<group.count where group[index].hexValue == nil { return false }
        return true
    }
}
