/// A network of IP addresses (RFC 4632 §3.1, RFC 4291 §2.3): `192.0.2.0/24`, `2001:db8::/32`, or a single
/// address.
public struct IPNetwork: Hashable, Sendable {
    /// The network address.
    public let address: IPAddress
    /// The prefix length: 0 to 32 for IPv4, 0 to 128 for IPv6.
    public let prefixLength: Int

    /// Parses a network; returns nil for anything else, including an address with bits set after the prefix:
    /// `10.0.0.1/8` is more likely a mistake than another spelling of `10.0.0.0/8`.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        let width = address.isIPv4 ? 32 : 128
        self.address = address
        guard parts.count == 2 else {
            prefixLength = width
            return
        }
        let digits = Array(parts[1].utf8)
        guard digits.count <= 3, let length = digits.span.decimalValue, length <= width else { return nil }
        prefixLength = Int(length)
        let (high, low) = mask
        guard address.high & ~high == 0, address.low & ~low == 0 else { return nil }
    }

    /// Whether the address is of the same family and has the same prefix.
    public func contains(_ other: IPAddress) -> Bool {
        guard other.isIPv4 == address.isIPv4 else { return false }
        let (high, low) = mask
        return other.high & high == address.high && other.low & low == address.low
    }

    /// A mask with the prefix bits set.
    private var mask: (high: UInt64, low: UInt64) {
        let length = address.isIPv4 ? prefixLength + 96 : prefixLength
        return (
            length >= 64 ? .max : ~(.max >> UInt64(length)),
            length >= 128 ? .max : length <= 64 ? 0 : ~(.max >> UInt64(length - 64))
        )
    }
}
