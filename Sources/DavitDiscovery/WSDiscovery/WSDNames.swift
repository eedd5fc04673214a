/// The namespaces and constants of WS-Discovery (April 2005), of the Devices Profile for Web Services (February 2006) and of
/// PnP-X: the versions that Windows uses.
enum WSDNames {
    static let envelope: StaticString = "http://www.w3.org/2003/05/soap-envelope"
    static let addressing: StaticString = "http://schemas.xmlsoap.org/ws/2004/08/addressing"
    static let discovery: StaticString = "http://schemas.xmlsoap.org/ws/2005/04/discovery"
    static let profile = "http://schemas.xmlsoap.org/ws/2006/02/devprof"
    static let get = "http://schemas.xmlsoap.org/ws/2004/09/transfer/Get"

    /// The port for datagrams.
    static let port: UInt16 = 3702
}

/// A device as it is described to others.
package struct WSDDevice: Hashable, Sendable {
    /// Identifies the device permanently: `urn:uuid:` and a UUID.
    package var address: String
    /// The name that Windows displays.
    package var name: String
    /// The version of the program.
    package var version: String
    /// The number of this run, greater than those of earlier ones: the time of its start in seconds.
    package var instance: UInt32

    /// - Parameters:
    ///   - identity: texts that together identify the server permanently, and no other one.
    ///   - startSeconds: the time of the start, in seconds since 1970.
    package init(name: String, version: String, identity: [String], startSeconds: Int64) {
        address = "urn:uuid:" + Self.uuid(of: identity)
        self.name = name
        self.version = version
        instance = UInt32(truncatingIfNeeded: startSeconds)
    }

    /// The conventional TCP port for metadata.
    package static let metadataPort: UInt16 = 5357

    /// The part of the URL that identifies the device.
    package var path: String { "/" + address.dropFirst("urn:uuid:".utf8.count) }

    /// Returns a UUID of version 8 (RFC 9562 §5.8), whose bits are a hash (FNV-1a) of the texts.
    private static func uuid(of texts: [String]) -> String {
        func hash(_ start: UInt64) -> UInt64 {
            var hash = start
            for byte in texts.joined(separator: "\0").utf8 {
                hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
            }
            return hash
        }
        let high = hash(0xCBF2_9CE4_8422_2325) & ~0xF000 | 0x8000
        let low = hash(0x8422_2325_CBF2_9CE4) & ~(3 << 62) | 2 << 62
        return UUIDText.text(high: high, low: low)
    }
}

/// UUIDs as text (RFC 9562 §4).
enum UUIDText {
    /// Returns a random UUID, of version 4.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        let high = generator.next() & ~0xF000 | 0x4000
        return text(high: high, low: generator.next() & ~(3 << 62) | 2 << 62)
    }

    static func text(high: UInt64, low: UInt64) -> String {
        let digits = [high, low].map { half in
            let text = String(half, radix: 16)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }.joined()
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text.append(digit)
        }
        return text
    }
}
