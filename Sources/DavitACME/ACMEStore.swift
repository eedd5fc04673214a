#if TLS
internal import DavitCrypto
internal import DavitHTTP
internal import DavitServer
internal import DavitSystem

/// The keys and the certificate in the state folder:
///
/// - `account-key.pem`: the key of the account.
/// - `certificate.pem`: the URL of the directory, the key of the certificate, and its chain, in one file, so that key and
///   certificate always belong together.
///
/// Both have the mode 0600 and are replaced atomically. The caller must own the folder and prevent concurrent use.
struct ACMEStore: Sendable {
    let folder: String

    private var accountPath: String { folder + "/account-key.pem" }
    private var certificatePath: String { folder + "/certificate.pem" }

    /// A certificate with its key.
    struct Stored: Sendable {
        let identity: TLSIdentity
        let chain: [UInt8]
        /// The directory of the ACME server that has issued it.
        let directory: String
    }

    /// Returns the key of the account, and creates it if it does not exist. A file that cannot be read is an error, because an
    /// account can have limits and an external account.
    func accountKey() throws(ACMEError) -> ACMEAccountKey {
        if let file = try read(accountPath) {
            let key: PrivateKey
            do throws(PrivateKey.ReadError) { key = try PrivateKey(pem: file) } catch {
                throw .unavailable("\(accountPath): no usable private key found")
            }
            return try ACMEAccountKey(key)
        }
        let key = try ACMEAccountKey.crypto { () throws(CryptoError) in try PrivateKey.makeP256() }
        try write(try ACMEAccountKey.crypto { () throws(CryptoError) in try key.pem() }, to: accountPath)
        return try ACMEAccountKey(key)
    }

    private static let directoryLabel = "Directory: "

    /// Returns the stored certificate; nil if there is none.
    /// - Throws: ``ACMEError/unavailable(_:)`` if the file cannot be used.
    func certificate() throws(ACMEError) -> Stored? {
        guard let bytes = try read(certificatePath) else { return nil }
        guard let identity = try? TLSIdentity(chain: bytes, key: bytes) else {
            throw .unavailable("\(certificatePath): no usable certificate and key found")
        }
        let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return Stored(
            identity: identity, chain: bytes,
            directory: line.hasPrefix(Self.directoryLabel)
                ? String(line.dropFirst(Self.directoryLabel.count)) : "")
    }

    /// Replaces the stored certificate.
    func store(_ chain: [UInt8], _ key: PrivateKey, directory: String) throws(ACMEError) {
        let pem = try ACMEAccountKey.crypto { () throws(CryptoError) in try key.pem() }
        // Text before the first label is allowed (RFC 7468 §2).
        try write(Array("\(Self.directoryLabel)\(directory)\n".utf8) + pem + chain, to: certificatePath)
    }

    /// Returns the content of a file; nil if it does not exist.
    private func read(_ path: String) throws(ACMEError) -> [UInt8]? {
        do throws(SystemError) { return try SmallFile(reading: path).bytes } catch {
            if error.code == .noEntry { return nil }
            throw .unavailable("\(path): \(error.description)")
        }
    }

    private func write(_ bytes: [UInt8], to path: String) throws(ACMEError) {
        do throws(SystemError) {
            try ExclusiveFolder.makeFolders(folder)
            try SmallFile.write(bytes, to: path, mode: 0o600)
            // The new name must survive a power failure as well.
            try RootDirectory(opening: folder).descriptor.sync()
        } catch {
            throw .unavailable("\(path): cannot write file: \(error.description)")
        }
    }
}
#endif
