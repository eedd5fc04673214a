#if TLS
package import DavitCrypto
internal import DavitSystem

/// The files with a certificate chain and its key.
package struct CertificateFiles: Sendable {
    package let certificate: String
    package let key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// Reads both files. Blocks.
    /// - Returns: the identity, and whether only the owner and the group of the key file can read it.
    /// - Throws: ``ServerError/certificateNotUsable(path:reason:)``.
    package func load() throws(ServerError) -> (identity: TLSIdentity, isKeyPrivate: Bool) {
        let chain = try Self.read(certificate)
        let keyFile = key == certificate ? chain : try Self.read(key)
        do throws(TLSIdentity.Problem) {
            let identity = try TLSIdentity(chain: chain.bytes, key: keyFile.bytes)
            return (identity, Self.isPrivate(mode: keyFile.mode))
        } catch {
            let isOfKey = if case .key = error { true } else { false }
            throw .certificateNotUsable(path: isOfKey ? key : certificate, reason: error.text(key: key))
        }
    }

    /// Reads the certificates of a file, such as a list of authorities. Blocks.
    /// - Throws: ``ServerError/certificateNotUsable(path:reason:)``.
    package static func certificates(in path: String) throws(ServerError) -> [Certificate] {
        let file = try read(path)
        do throws(Certificate.ReadError) { return try Certificate.read(pem: file.bytes) } catch {
            throw .certificateNotUsable(path: path, reason: error.text)
        }
    }

    private static func read(_ path: String) throws(ServerError) -> SmallFile {
        do throws(SystemError) { return try SmallFile(reading: path) } catch {
            throw .certificateNotUsable(path: path, reason: "cannot read file: \(error.description)")
        }
    }

    /// Whether a key file with this mode is private. Group read permission is accepted, because Debian uses
    /// it for keys.
    private static func isPrivate(mode: UInt32) -> Bool { mode & 0o027 == 0 }
}
#endif
