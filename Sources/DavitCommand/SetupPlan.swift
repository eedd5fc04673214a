internal import DavitSystem

/// What `davit setup` writes, from its answers. Pure: creates nothing.
package struct SetupPlan: Hashable, Sendable {
    package var folder: String
    package var reach: SetupOptions.Reach
    package var name: String
    package var account: String
    package var startsAtBoot: Bool
    package var port: UInt16
    package var file: String
    /// Nil for the default of `davit serve`.
    package var stateFolder: String?
    /// The program that the service starts.
    package var program: String

    package init(
        folder: String, reach: SetupOptions.Reach, name: String, account: String, startsAtBoot: Bool,
        port: UInt16,
        file: String, stateFolder: String?, program: String
    ) {
        self.folder = folder
        self.reach = reach
        self.name = name
        self.account = account
        self.startsAtBoot = startsAtBoot
        self.port = port
        self.file = file
        self.stateFolder = stateFolder
        self.program = program
    }

    /// The default port: clients need not know 443, which a proxy has.
    package static func standardPort(_ reach: SetupOptions.Reach) -> UInt16 {
        reach == .network ? 8443 : 8080
    }

    /// The name of the systemd instance, as `systemd-escape --path` prints it.
    package var instance: String { Self.instance(of: folder) }

    package static func instance(of folder: String) -> String {
        var text = ""
        for byte in folder.utf8.drop(while: { $0 == UInt8(ascii: "/") }) {
            switch byte {
            case UInt8(ascii: "/"): text += "-"
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: ":"), UInt8(ascii: "_"):
                text += String(UnicodeScalar(byte))
            case UInt8(ascii: ".") where !text.isEmpty: text += "."
            default:
                let digits = String(byte, radix: 16)
                text += "\\x" + (digits.utf8.count < 2 ? "0" : "") + digits
            }
        }
        return text
    }

    /// The URL that clients use, with a trailing slash.
    package var url: String {
        switch reach {
        case .machine: "http://\(name):\(port)/"
        case .network: "https://\(name):\(port)/"
        case .internet: "https://\(name)/"
        }
    }

    /// The configuration file.
    package var configuration: String {
        var text = """
            # Written by 'davit setup'. 'davit config defaults' lists all settings.
            folder: \(Self.quoted(folder))

            """
        if let stateFolder { text += "state-dir: \(Self.quoted(stateFolder))\n" }
        // systemd passes the sockets of a service.
        if !startsAtBoot {
            text += "host: \(Self.quoted(reach == .network ? "*" : "localhost"))\nport: \(port)\n"
        }
        switch reach {
        case .machine: break
        case .network: text += "tls-self-signed: true\npublic-url: \(Self.quoted(String(url.dropLast())))\n"
        case .internet:
            text += "trusted-proxy: 127.0.0.1\npublic-url: \(Self.quoted(String(url.dropLast())))\n"
        }
        return text
    }

    /// Additions to `davit@.service` for the configuration file.
    package var serviceDropIn: String {
        let (program, file) = (Self.unitWord(program), Self.unitWord(file))
        return """
            # Written by 'davit setup'.
            [Service]
            ExecStartPre=\(program) config check \(file) --state-dir ${STATE_DIRECTORY}
            ExecStart=
            ExecStart=\(program) serve --config \(file) --state-dir ${STATE_DIRECTORY} --sandbox

            """
    }

    /// The addresses of `davit@.socket`.
    package var socketDropIn: String {
        let addresses = reach == .network ? ["\(port)"] : ["127.0.0.1:\(port)", "[::1]:\(port)"]
        return "# Written by 'davit setup'.\n[Socket]\nListenStream=\n"
            + addresses.map { "ListenStream=\($0)\n" }.joined()
    }

    /// Files next to the configuration: the path, and the content.
    package var unitFiles: [(path: String, content: String)] {
        guard startsAtBoot else { return [] }
        let folder = "/etc/systemd/system/davit@\(instance)"
        return [
            ("\(folder).service.d/setup.conf", serviceDropIn),
            ("\(folder).socket.d/setup.conf", socketDropIn),
        ]
    }

    private var stateOption: String {
        stateFolder.map { " \(ServeOption.stateDir.rawValue) \(Self.shellWord($0))" } ?? ""
    }

    /// What remains to be done, for people.
    /// - Parameter link: the query of the URL with which the user of the account chooses the password; nil without a link.
    package func nextSteps(link: String?) -> String {
        var text = "\nStart the server:\n"
        if startsAtBoot {
            let unit = Self.shellWord("davit@\(instance)")
            text += "  systemctl daemon-reload\n  systemctl enable --now \(unit).socket \(unit).service\n"
        } else {
            text += "  \(Self.shellWord(program)) serve --config \(Self.shellWord(file))\n"
        }
        if reach == .internet {
            text += """

                It is reachable through a proxy with a certificate, such as Caddy, which obtains one. Its Caddyfile:
                  \(name) {
                      reverse_proxy 127.0.0.1:\(port) {
                          header_up -Forwarded
                          header_up -X-Forwarded-Prefix
                      }
                  }

                """
        }
        if reach == .network {
            text += """

                Devices must trust the authority that the server creates when it starts: see 'davit doctor --config FILE'.

                """
        }
        if let link {
            text += """

                Then choose the password of \(account), once within \(AccountOptions.standardHours) hours:
                  \(url)\(link)
                Later, make another link:
                  \(Self.shellWord(program)) account link \(Self.shellWord(folder)) \(Self.shellWord(account))\(stateOption)

                """
        }
        text += """

            Then sign in as \(account):
              browser   \(url)
              Finder    Go > Connect to Server (Command-K): \(url)
              Explorer  This PC > Map network drive: \(url)
              GNOME     Other Locations > Connect to Server: \(url.replacing("http", with: "dav", maxReplacements: 1))
              davfs2    mount -t davfs \(url) /mnt
              rclone    rclone config create files webdav url=\(url) vendor=owncloud user=\(Self.shellWord(account))

            If something does not work:
              \(Self.shellWord(program)) doctor --config \(Self.shellWord(file))

            """
        return text
    }

    /// A text in double quotes, in YAML.
    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// A word of a command in a unit: percent and dollar signs have a meaning there, and spaces separate words.
    private static func unitWord(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing(
            "%", with: "%%"
        )
        .replacing("$", with: "$$")
        return escaped.utf8.allSatisfy(isPlain) ? escaped : "\"\(escaped)\""
    }

    private static func shellWord(_ text: String) -> String {
        text.utf8.allSatisfy(isPlain) ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "/._-:@+,=".utf8.contains(byte)
        }
    }
}
