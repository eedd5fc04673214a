#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The environment variables of the process.
public enum Environment {
    /// Returns the value of a variable; nil if it is not set, or empty.
    public static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// Returns all variables whose names begin with a prefix, in UTF-8.
    public static func variables(startingWith prefix: String) -> [String: String] {
        var variables: [String: String] = [:]
        // Not optional on every system.
        let first: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe environ
        guard var next = unsafe first else { return variables }
        while let entry = unsafe next.pointee {
            let parts = unsafe String(cString: entry).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, parts[0].hasPrefix(prefix) { variables[String(parts[0])] = String(parts[1]) }
            unsafe next += 1
        }
        return variables
    }
}
