/// The table of ``MediaType`` with application-specific entries.
public struct MediaTypes: Sendable {
    /// Application-specific media types by extension in lower case.
    private var overrides: [[UInt8]: [UInt8]] = [:]

    /// Creates the default table.
    public init() {}

    /// - Parameter overrides: Content-Type values by extension without its dot, ignoring case:
    ///   `["log": "text/x-log"]`.
    public init(_ overrides: [String: String]) {
        for (suffix, type) in overrides {
            self.overrides[suffix.utf8.map(\.lowercasedASCII)] = Array(type.utf8)
        }
    }

    /// Returns the Content-Type value for a resource with this name.
    public func type(forName name: String) -> String {
        let name = Array(name.utf8)
        if let type = override(forName: name) { return String(decoding: type, as: UTF8.self) }
        return MediaType.forName(name).description
    }

    func override(forName name: some Collection<UInt8>) -> [UInt8]? {
        if overrides.isEmpty { return nil }
        let name = Array(name)
        // A leading dot marks a hidden file, not an extension.
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return nil }
        return overrides[name[(dot + 1)...].map(\.lowercasedASCII)]
    }
}
