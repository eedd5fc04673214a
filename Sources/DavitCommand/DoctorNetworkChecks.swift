internal import Davit
internal import DavitCrypto
internal import DavitHTTP
internal import DavitRecording
internal import DavitSystem

/// Certificates and keys.
enum CertificateCheck: DoctorCheck {
    static let name = "certificates"
    private static let daySeconds: Int64 = 86_400

    static func authorityPath(in stateFolder: String) -> String { "\(stateFolder)/tls/authority.pem" }

    static func findings(_ context: DoctorContext) -> [DoctorFinding] {
        let (options, tls) = (context.options, context.options.tls)
        guard tls.isOn else { return unencrypted(options) }
        #if TLS
        let now = Timestamp(nanoseconds: Clock.wallNow())
        var findings: [DoctorFinding] = []
        var certificates: [Certificate] = []
        for (certificate, key) in zip(tls.certificates, tls.keys) {
            do throws(ServerError) {
                let files = CertificateFiles(certificate: certificate, key: key)
                let (identity, isKeyPrivate) = try files.load()
                certificates.append(identity.certificate)
                findings += self.findings(identity, in: certificate, now: now)
                if !isKeyPrivate {
                    findings.append(
                        .warning(
                            "\(key) is accessible to other users",
                            "Restrict the permissions: chmod 600 '\(key)'"))
                }
            } catch {
                findings.append(.problem(CommandFailure(error, folder: options.folder).naming(tls)))
            }
        }
        if tls.isSelfSigned, let state = context.states.first { findings.append(ownAuthority(state)) }
        if !tls.isSelfSigned { findings += uncovered(options.publicURLs, by: certificates) }
        if let path = tls.clientAuthorities {
            do throws(ServerError) {
                let count = try CertificateFiles.certificates(in: path).count
                findings.append(
                    .ok(
                        "\(path) contains \(count == 1 ? "one authority" : "\(count) authorities") for clients"
                    ))
            } catch {
                findings.append(.problem(CommandFailure(error, folder: options.folder).naming(tls)))
            }
        }
        return findings
        #else
        return [.problem("this build does not include TLS", nil)]
        #endif
    }

    /// Whether others can read passwords and files on the network.
    private static func unencrypted(_ options: ServeOptions) -> [DoctorFinding] {
        guard let host = options.hosts.first(where: { !Configuration.isLoopback($0) && $0 != "localhost" }),
            options.proxies.trusted.isEmpty
        else { return [.ok("this server uses no certificates")] }
        return [
            .warning(
                "connections to \(host) are not encrypted",
                "Add --tls-self-signed or --tls-cert, or serve behind a proxy with TLS and --trusted-proxy.")
        ]
    }

    #if TLS
    private static func findings(_ identity: TLSIdentity, in path: String, now: Timestamp) -> [DoctorFinding]
    {
        var findings = [validity(identity.certificate, in: path, now: now)]
        for (certificate, issuer) in zip(identity.chain, identity.chain.dropFirst())
        where !certificate.isSigned(by: issuer) {
            findings.append(
                .problem(
                    "\(path): the certificates are not in order",
                    "Each must be signed by the next, the server's first."))
            return findings
        }
        if let problem = identity.trustProblem() {
            findings.append(
                .warning(
                    "\(path): this machine does not trust it: \(problem)",
                    "Add the intermediate certificates to the file, unless clients trust a private authority."
                ))
        }
        return findings
    }

    private static func validity(_ certificate: Certificate, in path: String, now: Timestamp) -> DoctorFinding
    {
        guard let period = try? certificate.validity() else {
            return .problem("\(path): the validity period cannot be read", "Obtain another certificate.")
        }
        let days = (period.upperBound.seconds - now.seconds) / daySeconds
        if now < period.lowerBound {
            return .problem("\(path) is not valid yet", "Check the clock, or wait until it is.")
        }
        if now > period.upperBound {
            return .problem("\(path) has expired", "Renew it, and run 'davit reload'.")
        }
        if (try? certificate.needsRenewal(now: now)) ?? false {
            return .warning("\(path) expires in \(days) days", "Renew it, and run 'davit reload'.")
        }
        return .ok("\(path) is valid for \(days) more days")
    }

    private static func uncovered(_ urls: [PublicURL], by certificates: [Certificate]) -> [DoctorFinding] {
        urls.filter(\.isSecure).compactMap { url in
            let host = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
            if certificates.isEmpty || certificates.contains(where: { $0.covers(host) }) { return nil }
            return .problem("no certificate is valid for \(host)", "Obtain one that contains this name.")
        }
    }

    private static func ownAuthority(_ state: DoctorState) -> DoctorFinding {
        let path = authorityPath(in: state.path)
        guard (try? ExclusiveFolder.hasEntry(at: path)) == true else {
            return .ok("the server will create its own authority when it starts")
        }
        do throws(ServerError) {
            let authority = try CertificateFiles.certificates(in: path).first
            let fingerprint = try? authority?.fingerprintText()
            return .ok("clients need to trust \(path), SHA-256 \(fingerprint ?? "unknown")")
        } catch {
            return .problem(CommandFailure(error, folder: state.share))
        }
    }
    #endif
}

/// The settings for proxies.
enum ProxyCheck: DoctorCheck {
    static let name = "proxies"

    static func findings(_ context: DoctorContext) -> [DoctorFinding] {
        let options = context.options
        let trusted = options.proxies.trusted
        for network in trusted where network.hasSuffix("/0") {
            return [
                .problem(
                    "--trusted-proxy \(network) lets every client claim any address and scheme",
                    "List the addresses of the proxies, such as 127.0.0.1.")
            ]
        }
        if let url = options.publicURLs.first(where: \.isSecure), !options.tls.isOn, trusted.isEmpty {
            return [
                .warning(
                    "\(url.text) uses TLS, but no proxy is trusted",
                    "Add --trusted-proxy with the address of the proxy; without it, all clients count as one."
                )
            ]
        }
        if !trusted.isEmpty, options.publicURLs.isEmpty {
            return [
                .warning(
                    "the URL of the proxy is not known", "Add --public-url with the URL that clients use.")
            ]
        }
        return trusted.isEmpty
            ? [] : [.ok("requests of \(trusted.joined(separator: ", ")) may name the client")]
    }
}

/// What arrives at the server from the address that clients use.
enum PublicAddressCheck: DoctorCheck {
    static let name = "url"
    private static let timeoutSeconds = 5
    /// A name that davit refuses for every request, so that nothing is created, changed or removed.
    private static let reserved = ".davit-doctordoctordoct"
    /// The announced length of an upload whose content is not sent.
    private static let largeBytes: Int64 = 4 << 30

    static func findings(_ context: DoctorContext) -> [DoctorFinding] {
        guard let server = context.server else { return [] }
        do throws(SingleExchange.Failure) {
            return try Probe(
                server: server, credentials: context.user,
                largeBytes: min(context.options.maximumFileBytes ?? largeBytes, largeBytes)
            ).findings()
        } catch {
            return [
                .problem(
                    "\(server.origin)\(server.path): \(error.reason)",
                    "Check that the server and the proxy are running, and that firewalls and routers forward the port."
                )
            ]
        }
    }

    private struct Probe {
        let server: ServerAddress
        let credentials: ServeOptions.User?
        let largeBytes: Int64

        func findings() throws(SingleExchange.Failure) -> [DoctorFinding] {
            let options = try send("OPTIONS")
            guard let compliance = options.fields["DAV"] else {
                return [
                    .problem(
                        "OPTIONS \(server.path) was answered with \(options.status) and no DAV field",
                        "The proxy answers by itself or removes the field: forward all methods and fields to davit."
                    )
                ]
            }
            var findings = [DoctorFinding.ok("the DAV field arrives: \(compliance)")]
            findings += try methods()
            findings.append(try destination())
            findings.append(try largeUpload())
            return findings
        }

        private func methods() throws(SingleExchange.Failure) -> [DoctorFinding] {
            let lock =
                #"<?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope>"#
                + #"<locktype><write/></locktype></lockinfo>"#
            let requests = [
                ("PROPFIND", "", [WireField(name: "Depth", value: "0")], nil),
                (
                    "LOCK", reserved, [WireField(name: "Content-Type", value: "application/xml")],
                    Array(lock.utf8)
                ),
                ("REPORT", reserved, [], nil), ("MKCOL", reserved, [], nil), ("MOVE", reserved, [], nil),
            ]
            var refused: [String] = []
            for (method, name, fields, content) in requests {
                let status = try send(method, name, fields, content).status
                if status == 405 || status == 501 || status == 400 && method == "PROPFIND" {
                    refused.append(method)
                }
            }
            if refused.isEmpty { return [.ok("the methods of WebDAV arrive")] }
            return [
                .problem(
                    "refused on the way: \(refused.joined(separator: ", "))",
                    "Allow all methods of WebDAV in the proxy or firewall, not only GET and POST.")
            ]
        }

        private func destination() throws(SingleExchange.Failure) -> DoctorFinding {
            let field = WireField(name: "Destination", value: server.origin + server.path + reserved)
            let status = try send("COPY", reserved + "/member", [field]).status
            if status == 401 {
                return .warning(
                    "COPY and MOVE cannot be checked without an account",
                    "Add --sign-in NAME:PASSWORD for the check.")
            }
            if status == 502 || status == 400 {
                return .problem(
                    "the server does not recognize \(server.origin) in the Destination of COPY and MOVE (\(status))",
                    "Forward the Host field unchanged, or add --public-url \(server.origin)\(server.path.dropLast())."
                )
            }
            return .ok("the Destination of COPY and MOVE is recognized")
        }

        private func largeUpload() throws(SingleExchange.Failure) -> DoctorFinding {
            let fields = [
                WireField(name: "Content-Length", value: "\(largeBytes)"),
                WireField(name: "Expect", value: "100-continue"),
            ]
            let response: SingleExchange?
            // A proxy that accepts the request waits for the content.
            do throws(SingleExchange.Failure) { response = try send("PUT", reserved, fields) } catch {
                response = nil
            }
            guard response?.status == 413 else {
                return .ok("uploads of \(largeBytes >> 20) MiB are not refused on the way")
            }
            return .problem(
                "an upload of \(largeBytes >> 20) MiB was refused (413)",
                "Raise the limit of the proxy: client_max_body_size 0 in nginx, LimitRequestBody 0 in Apache."
            )
        }

        private func send(
            _ method: String, _ name: String = "", _ fields: [WireField] = [], _ content: [UInt8]? = nil
        ) throws(SingleExchange.Failure) -> SingleExchange {
            var fields = fields
            if let credentials {
                let text = Array("\(credentials.name):\(credentials.password)".utf8)
                fields.append(WireField(name: "Authorization", value: "Basic " + Base64.encode(text)))
            }
            return try SingleExchange(
                method, server.path + name, to: server, fields: fields, content: content,
                timeoutSeconds: timeoutSeconds)
        }
    }
}
