#if TLS
internal import DavitHTTP
internal import DavitQRCode
internal import DavitServer

/// A page with the certificate of the server's own authority, and how to install it. It is available over plain HTTP, because a
/// browser that does not trust the authority yet could not open it otherwise; people compare the fingerprint with that on the
/// server's terminal, or on a device that trusts the server already. Without such an authority, and for all other paths, another
/// handler answers.
struct TrustPage: Handler {
    static let path = "/.davit-trust"
    private static let policy =
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    private let certificates: ServerCertificates
    /// The path of the server's own page, on which a redirect to TLS follows.
    private let home: String
    private let otherwise: any Handler

    init(_ certificates: ServerCertificates, prefix: String, otherwise: any Handler) {
        self.certificates = certificates
        home = (PathPrefix(prefix)?.text ?? "") + "/"
        self.otherwise = otherwise
    }

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        let path = request.target.rawPath
        let isSecure = request.isSecure
        guard path.starts(with: Self.path.utf8), let download = certificates.download else {
            request.hasTrustPage = isSecure
            return try otherwise.respond(to: request)
        }
        var response: HTTPResponse
        switch String(decoding: path.dropFirst(Self.path.utf8.count), as: UTF8.self) {
        case "":
            response = .template(
                Self.page,
                [
                    "name": .text(download.name), "fingerprint": .text(download.fingerprint),
                    "fragment": .text(String(Self.fragment(download.fingerprint).dropFirst())),
                    "path": .text(Self.path), "home": .text(home),
                ])
            response.fields.append(.contentSecurityPolicy, Self.policy)
            response.fields.append(.contentLanguage, "en")
        case "/authority.json":
            var json = JSONWriter()
            json.object {
                $0.member("name", download.name)
                $0.member("fingerprint", download.fingerprint)
            }
            response = .bytes(json.bytes, type: "application/json")
        case "/qr.svg":
            // The address of the page over plain HTTP, as a browser knows it.
            guard let host = request.host,
                let code = QRCode(encoding: Self.address(on: host, fingerprint: download.fingerprint))
            else { return try otherwise.respond(to: request) }
            response = .bytes(Array(code.svg().utf8), type: "image/svg+xml")
            response.fields.append(.contentSecurityPolicy, "default-src 'none'; sandbox")
        case "/page.css": response = .bytes(Array(Self.style.utf8), type: "text/css; charset=utf-8")
        case "/davit.crt":
            response = .bytes(download.certificate, type: "application/x-x509-ca-cert")
            response.fields.append(.contentDisposition, "attachment; filename=\"davit.crt\"")
        case "/davit.mobileconfig":
            response = .bytes(download.profile, type: "application/x-apple-aspen-config")
            response.fields.append(.contentDisposition, "attachment; filename=\"davit.mobileconfig\"")
        default: return try otherwise.respond(to: request)
        }
        guard request.method == .get || request.method == .head else {
            response = .error(.methodNotAllowed, "Method not allowed.")
            response.fields.append(.allow, "GET, HEAD")
            response.closesConnection = !isSecure
            return .ready(response)
        }
        response.fields.append(.xContentTypeOptions, "nosniff")
        response.fields.append(.cacheControl, "no-store")
        response.closesConnection = !isSecure
        return .ready(response)
    }

    /// Returns the address of the page over plain HTTP. A device that scans it shows the fingerprint in the address, too.
    private static func address(on host: HostField, fingerprint: String) -> [UInt8] {
        let port = Array(":\(host.port ?? 443)".utf8)
        return Array("http://".utf8) + host.host + port + (path + fragment(fingerprint)).utf8
    }

    /// Returns the fragment with a fingerprint, which begins with `#`.
    static func fragment(_ fingerprint: String) -> String {
        "#sha256-" + fingerprint.filter { $0 != ":" }
    }

    private static let page = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Trust this server</title>
        <link rel="stylesheet" href="%path%/page.css">
        </head>
        <body>
        <main>
        <h1>Trust this server</h1>
        <p>This file server has made its own certificate. Install it once on this device; the device then connects without
        warnings.</p>
        <h2>1. Compare the fingerprint</h2>
        <p>The server prints the same SHA-256 fingerprint when it starts. If they differ, do not install the certificate.</p>
        <p id="%fragment%"><code id="fingerprint">%fingerprint%</code></p>
        <h2>2. Install the certificate</h2>
        <details open><summary>iPhone, iPad</summary>
        <p><a class="button" href="%path%/davit.mobileconfig">Download the profile</a></p>
        <ol>
        <li>Open this page in Safari, download the profile, and tap Allow.</li>
        <li>In Settings, tap Profile Downloaded, and then Install.</li>
        <li>In Settings → General → About → Certificate Trust Settings, turn on “%name%”.</li>
        </ol></details>
        <details><summary>Mac</summary>
        <p><a class="button" href="%path%/davit.mobileconfig">Download the profile</a></p>
        <ol>
        <li>Open the downloaded file.</li>
        <li>In System Settings, search for Profiles, open “%name%”, and click Install.</li>
        </ol></details>
        <details><summary>Android</summary>
        <p><a class="button" href="%path%/davit.crt">Download the certificate</a></p>
        <ol>
        <li>In Settings, search for “CA certificate”, and tap Install anyway.</li>
        <li>Select davit.crt in the downloads.</li>
        </ol>
        <p>Browsers then trust the server. Other apps do so only if their developers allow it.</p></details>
        <details><summary>Windows</summary>
        <p><a class="button" href="%path%/davit.crt">Download the certificate</a></p>
        <ol>
        <li>Open davit.crt, and click Install Certificate → Local Machine.</li>
        <li>Select “Place all certificates in the following store”, and then Trusted Root Certification Authorities.</li>
        </ol></details>
        <details><summary>Linux</summary>
        <p><a class="button" href="%path%/davit.crt">Download the certificate</a></p>
        <p>On Debian and Ubuntu:</p>
        <pre><code>openssl x509 -inform DER -in davit.crt -out davit.pem
        sudo cp davit.pem /usr/local/share/ca-certificates/davit.crt
        sudo update-ca-certificates</code></pre>
        <p>Firefox has its own list: Settings → Privacy &amp; Security → View Certificates → Authorities → Import.</p></details>
        <h2>3. Connect</h2>
        <p><a class="button" href="%home%">Open the server</a></p>
        </main>
        </body>
        </html>

        """

    private static let style = """
        :root { color-scheme: light dark; --ink: #1c2126; --page: #fff; --line: #d5dbe1; --soft: #f2f5f7; --accent: #0b5cad;
          --on-accent: #fff; }
        @media (prefers-color-scheme: dark) {
          :root { --ink: #e6eaee; --page: #14181c; --line: #39424b; --soft: #1f252b; --accent: #7ab8ff; --on-accent: #0b1a2b; }
        }
        body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
        main { max-width: 42rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
        h1 { margin: 0 0 1rem; font-size: 1.625rem; line-height: 1.25; }
        h2 { margin: 1.75rem 0 0.5rem; font-size: 1.1875rem; }
        code { font: 0.9375rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
        #fingerprint, pre { display: block; margin: 0; padding: 0.75rem; border-radius: 8px; background: var(--soft); }
        pre { overflow-x: auto; }
        details { margin: 0.5rem 0; padding: 0 1rem; border: 1px solid var(--line); border-radius: 8px; }
        summary { padding: 0.625rem 0; cursor: pointer; font-weight: 600; }
        ol { padding-inline-start: 1.25rem; }
        li { margin: 0.25rem 0; }
        .button { display: inline-block; padding: 0.625rem 1.125rem; border-radius: 8px; background: var(--accent);
          color: var(--on-accent); font-weight: 600; text-decoration: none; }

        """
}
#endif
