internal import DavitHTTP

/// The default location of the state of a share.
package enum StateFolderName {
    /// The maximum length of the readable part of a name, in bytes; file names can have 255.
    private static let readableBytes = 200

    /// Returns `$XDG_STATE_HOME/davit/KEY` or `~/.local/state/davit/KEY`, where KEY is a file name derived
    /// from the path of the share.
    ///
    /// - Parameters:
    ///   - share: the canonical path of the shared folder.
    ///   - environment: returns the value of an environment variable.
    /// - Throws: ``ServerError/noStateFolder``.
    package static func path(
        forShare share: [UInt8], environment: (String) -> String?
    ) throws(ServerError) -> String {
        guard let base = base(environment: environment) else { throw .noStateFolder }
        return base + "/" + key(forShare: share)
    }

    /// Returns the folder for all state of the user, or nil if neither XDG_STATE_HOME nor HOME is an absolute
    /// path.
    package static func base(environment: (String) -> String?) -> String? {
        // The XDG Base Directory Specification: relative paths are invalid and ignored.
        if let base = environment("XDG_STATE_HOME"), base.hasPrefix("/") { return base + "/davit" }
        guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.local/state/davit"
    }

    /// Returns a readable file name for a path. Different paths have different names, except for collisions
    /// of a 64-bit hash of long paths.
    static func key(forShare share: [UInt8]) -> String {
        var encoded: [UInt8] = []
        PercentCoding.append(share, to: &encoded)
        guard encoded.count > readableBytes else { return String(decoding: encoded, as: UTF8.self) }
        let start = String(decoding: encoded.prefix(readableBytes), as: UTF8.self)
        return start + "~" + String(hash(share), radix: 16)
    }

    /// FNV-1a, 64 bits.
    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }
}
