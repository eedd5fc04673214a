internal import DavitSystem

/// How a server is announced in the local network with DNS-SD (RFC 6763), which is also known as Bonjour and Zeroconf, so
/// that file managers list it without an address.
public struct ServiceAnnouncement: Hashable, Sendable {
    /// A service that the server offers.
    public struct Service: Hashable, Sendable {
        /// The type, such as `_webdav._tcp`.
        public var type: String
        /// The name that file managers display; nil for that of the announcement.
        public var name: String?
        /// The properties in the TXT record, such as `path`. Keys have 1 to 9 bytes of printable ASCII without `=`; a key and
        /// its value have at most 254 bytes in total (RFC 6763 §6.1). All properties have at most 1300 bytes.
        public var properties: [String: String]

        /// Creates a service.
        public init(type: String, name: String? = nil, properties: [String: String] = [:]) {
            self.type = type
            self.name = name
            self.properties = properties
        }
    }

    /// The name that file managers display: at most 63 bytes of UTF-8 without control characters. If it is empty, the name of
    /// the machine. If another server in the network has the name, a number is appended: `Office (2)`.
    public var name: String
    /// The services; nil for the default: `_webdav._tcp`, if the server has a share at its root, and `_http._tcp`, with TLS
    /// `_webdavs._tcp` and `_https._tcp`. Their property `path` is the prefix of the server, and `u` the name of the account if
    /// there is exactly one.
    public var services: [Service]?
    /// The names of the network interfaces to announce the server on, if it listens on them; empty for all but loopback
    /// interfaces and those of containers and virtual machines. On Apple systems, the system selects the interfaces.
    public var interfaces: [String]
    /// Whether the server is also announced with WS-Discovery, so that Windows lists it. Windows opens the server in the browser.
    /// Only on Linux; has no effect elsewhere.
    public var includesWindows: Bool

    /// Creates an announcement.
    public init(
        name: String = "", services: [Service]? = nil, interfaces: [String] = [],
        includesWindows: Bool = false
    ) {
        self.name = name
        self.services = services
        self.interfaces = interfaces
        self.includesWindows = includesWindows
    }

    /// The name without a number: that of the machine if none was given.
    package var displayName: String {
        if !name.isEmpty { return name }
        let host = HostName.current?.prefix { $0 != "." } ?? ""
        return host.isEmpty ? "davit" : AnnouncedService.shortened(String(host))
    }

    /// The reason why an announcement is not valid.
    public enum Problem: Error, Hashable, Sendable {
        /// The name is too long, or contains control characters.
        case name(String)
        /// The type does not have the form `_NAME._tcp`.
        case type(String)
        /// The key or the value of a property does not have the required form or length.
        case property(key: String)
    }

    /// The maximum length of a name in bytes: that of a DNS label (RFC 6763 §4.1.1).
    package static let nameLimit = 63
    /// The maximum length of a TXT record in bytes, so that a response fits into a packet (RFC 6763 §6.2).
    private static let recordLimit = 1300

    /// Returns the reason why the announcement is not valid, or nil.
    package var problem: Problem? {
        if !name.isEmpty, !Self.isName(name) { return .name(name) }
        for service in services ?? [] {
            if let name = service.name, !Self.isName(name) { return .name(name) }
            if !Self.isType(service.type) { return .type(service.type) }
            var total = 0
            for (key, value) in service.properties {
                let isKey =
                    (1...9).contains(key.utf8.count)
                    && key.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") }
                let length = key.utf8.count + 1 + value.utf8.count
                total += length + 1
                if !isKey || length > 255 || total > Self.recordLimit { return .property(key: key) }
            }
        }
        return nil
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= nameLimit && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    /// Whether a text has the form of a service type (RFC 6763 §7, RFC 6335 §5.1).
    private static func isType(_ type: String) -> Bool {
        guard type.hasPrefix("_"), type.hasSuffix("._tcp") else { return false }
        let name = type.utf8.dropFirst().dropLast(5)
        return (1...15).contains(name.count) && name.first != UInt8(ascii: "-")
            && name.last != UInt8(ascii: "-")
            && name.allSatisfy {
                ($0 | 0x20).isLowercaseLetter || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
            }
    }
}

extension UInt8 {
    fileprivate var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
}

/// A service with all values that are needed to announce it.
package struct AnnouncedService: Hashable, Sendable {
    package var type: String
    /// Without a number.
    package var name: String
    package var port: UInt16
    /// `KEY=VALUE`, in the order of the TXT record.
    package var properties: [String]

    /// - Parameters:
    ///   - name: the name of services without a name of their own.
    package init(_ service: ServiceAnnouncement.Service, name: String, port: UInt16) {
        type = service.type
        self.name = service.name ?? name
        self.port = port
        // `path` first, because some clients read only the beginning of the record.
        let keys = service.properties.keys.sorted { $0 == "path" ? $1 != "path" : $1 != "path" && $0 < $1 }
        properties = keys.map { "\($0)=\(service.properties[$0] ?? "")" }
    }

    /// Returns the name with a number, such as `Office (2)`, shortened to the length of a DNS label.
    /// - Parameter number: 1 for the name without a number.
    package func name(number: Int) -> String {
        number <= 1 ? name : Self.shortened(name, followedBy: " (\(number))")
    }

    /// Returns the beginning of `name`, followed by `suffix`, within the length of a DNS label. Characters remain whole.
    package static func shortened(_ name: String, followedBy suffix: String = "") -> String {
        var kept = name
        while kept.utf8.count + suffix.utf8.count > ServiceAnnouncement.nameLimit, !kept.isEmpty {
            kept.removeLast()
        }
        return kept + suffix
    }
}
