#if TLS
package import DavitCrypto
package import DavitFaults
package import DavitHTTP
internal import DavitSystem

/// A certificate authority of the server and a certificate that it has signed, stored in a folder:
///
/// - `authority-key.pem`: the authority's certificate and key, only for this server.
/// - `authority.pem`: the authority's certificate, for clients.
/// - `server.pem`: the server's certificate and key.
///
/// The caller must own the folder and prevent concurrent use.
package struct SelfSignedCertificates {
    package let folder: String
    private let hosts: [String]

    /// Returns nil if `folder` is nil.
    ///
    /// - Parameter hosts: names and addresses in addition to those of the machine.
    package init?(folder: String?, hosts: [String]) {
        guard let folder else { return nil }
        self.folder = folder
        self.hosts = hosts
    }

    private var authorityPath: String { folder + "/authority.pem" }
    private var authorityKeyPath: String { folder + "/authority-key.pem" }
    private var serverPath: String { folder + "/server.pem" }

    /// The authority for clients; nil if none is stored. ``identity(now:)`` creates one.
    package var authority: CertificateAuthority? {
        guard let file = try? SmallFile(reading: authorityPath),
            let certificate = try? Certificate.read(pem: file.bytes).first,
            let fingerprint = try? certificate.fingerprintText()
        else { return nil }
        return CertificateAuthority(path: authorityPath, fingerprint: fingerprint)
    }

    /// The certificate of the stored authority in the forms for clients; nil if none is stored. Blocks.
    var download: AuthorityDownload? {
        guard let file = try? SmallFile(reading: authorityPath),
            let certificate = try? Certificate.read(pem: file.bytes).first
        else { return nil }
        return try? AuthorityDownload(certificate)
    }

    /// Returns the stored certificate, or a new one if it has to be replaced. Blocks.
    package func identity(now: Timestamp) throws(ServerError) -> TLSIdentity {
        let authority = try storedOrNewAuthority(now: now)
        let (names, addresses) = Self.hosts(of: hosts)
        if let kept = storedIdentity(), Self.isUsable(kept, authority, names + addresses, now) { return kept }
        let made: CertificateGenerator.Pair
        do throws(CertificateGenerator.Problem) {
            made = try CertificateGenerator.makeLeaf(
                names: names, addresses: addresses, authority: authority, now: now)
        } catch {
            throw .certificateNotUsable(path: serverPath, reason: error.text)
        }
        try write(made, to: serverPath)
        return TLSIdentity(made)
    }

    /// Returns a certificate with a fault, which is not stored. Blocks.
    package func identity(with fault: CertificateFault, now: Timestamp) throws(ServerError) -> TLSIdentity {
        var authority = try storedOrNewAuthority(now: now)
        var (names, addresses) = Self.hosts(of: hosts)
        var start = now
        switch fault {
        case .expired: start = now.adding(seconds: -CertificateGenerator.leafSeconds - 86_400)
        case .notYetValid: start = now.adding(seconds: 2 * 86_400)
        case .wrongName: (names, addresses) = (["wrong-name.invalid"], [])
        case .untrusted:
            do throws(CryptoError) {
                authority = try CertificateGenerator.makeAuthority(named: "unknown authority", now: now)
            } catch {
                throw .certificateNotUsable(path: nil, reason: "\(error.call): \(error.reason)")
            }
        }
        do throws(CertificateGenerator.Problem) {
            return TLSIdentity(
                try CertificateGenerator.makeLeaf(
                    names: names, addresses: addresses, authority: authority, now: start))
        } catch {
            throw .certificateNotUsable(path: nil, reason: error.text)
        }
    }

    private func storedIdentity() -> TLSIdentity? {
        guard let file = try? SmallFile(reading: serverPath) else { return nil }
        // An unreadable certificate is replaced: only this server depends on it.
        return try? TLSIdentity(chain: file.bytes, key: file.bytes)
    }

    private static func isUsable(
        _ identity: TLSIdentity, _ authority: CertificateGenerator.Pair, _ hosts: [String], _ now: Timestamp
    ) -> Bool {
        let certificate = identity.certificate
        guard certificate.isSigned(by: authority.certificate),
            let needsRenewal = try? certificate.needsRenewal(now: now), !needsRenewal
        else { return false }
        return hosts.allSatisfy { certificate.covers($0) }
    }

    // MARK: Authority

    /// Returns the stored authority, or creates one if the file does not exist or the authority needs
    /// renewal. An unreadable file is an error, because clients that trust the old authority would not trust
    /// a new one.
    private func storedOrNewAuthority(now: Timestamp) throws(ServerError) -> CertificateGenerator.Pair {
        let file: SmallFile
        do throws(SystemError) {
            file = try SmallFile(reading: authorityKeyPath)
        } catch {
            if error.code == .noEntry { return try makeAuthority(now: now) }
            throw .certificateNotUsable(path: authorityKeyPath, reason: error.description)
        }
        let kept: TLSIdentity
        do throws(TLSIdentity.Problem) {
            kept = try TLSIdentity(chain: file.bytes, key: file.bytes)
        } catch {
            throw .certificateNotUsable(path: authorityKeyPath, reason: error.text(key: authorityKeyPath))
        }
        if (try? kept.certificate.needsRenewal(now: now)) ?? false { return try makeAuthority(now: now) }
        let pair = CertificateGenerator.Pair(certificate: kept.certificate, key: kept.key)
        try publish(pair.certificate)
        return pair
    }

    private func makeAuthority(now: Timestamp) throws(ServerError) -> CertificateGenerator.Pair {
        let name = String(("davit on " + (HostName.current ?? "this machine")).prefix(64))
        let made: CertificateGenerator.Pair
        do throws(CryptoError) { made = try CertificateGenerator.makeAuthority(named: name, now: now) } catch
        {
            throw .certificateNotUsable(path: authorityKeyPath, reason: "\(error.call): \(error.reason)")
        }
        do throws(SystemError) { try ExclusiveFolder.makeFolders(folder) } catch {
            throw .certificateNotUsable(path: folder, reason: error.description)
        }
        try write(made, to: authorityKeyPath)
        try publish(made.certificate)
        return made
    }

    /// Writes the certificate for clients to a file with mode 0644.
    private func publish(_ certificate: Certificate) throws(ServerError) {
        let pem = try Self.text(authorityPath) { () throws(CryptoError) in try certificate.pem() }
        if let there = try? SmallFile(reading: authorityPath), there.bytes == pem { return }
        try write(pem, to: authorityPath, mode: 0o644)
    }

    private func write(_ pair: CertificateGenerator.Pair, to path: String) throws(ServerError) {
        let pem = try Self.text(path) { () throws(CryptoError) in
            try pair.certificate.pem() + pair.key.pem()
        }
        try write(pem, to: path, mode: 0o600)
    }

    private static func text(
        _ path: String, _ make: () throws(CryptoError) -> [UInt8]
    ) throws(ServerError) -> [UInt8] {
        do throws(CryptoError) { return try make() } catch {
            throw .certificateNotUsable(path: path, reason: "\(error.call): \(error.reason)")
        }
    }

    private func write(_ bytes: [UInt8], to path: String, mode: UInt32) throws(ServerError) {
        do throws(SystemError) { try SmallFile.write(bytes, to: path, mode: mode) } catch {
            throw .certificateNotUsable(path: path, reason: "cannot write file: \(error.description)")
        }
    }

    // MARK: Hosts

    /// Returns the names and addresses that the certificate covers: those of this machine, and the valid ones
    /// in `given`.
    static func hosts(of given: [String]) -> (names: [String], addresses: [String]) {
        var names = ["localhost"]
        var addresses: [String] = []
        if let own = HostName.current {
            names.append(own)
            // The multicast DNS name on the local network.
            if !own.contains(".") { names.append(own + ".local") }
        }
        for address in InterfaceAddresses.all() where address.scope == 0 && !address.isLinkLocal {
            addresses.append(address.text)
        }
        addresses += ["127.0.0.1", "::1"]
        for host in given {
            var text = host
            if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
            if CertificateGenerator.isAddress(text) { addresses.append(text) } else { names.append(text) }
        }
        let kept = names.map { $0.lowercased() }.filter { CertificateGenerator.isName($0) }
        let there = addresses.filter { $0 != "0.0.0.0" && $0 != "::" && CertificateGenerator.isAddress($0) }
        return (Self.unique(kept), Self.unique(there))
    }

    private static func unique(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }
    }
}
#endif
