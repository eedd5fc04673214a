internal import DavitControl
internal import DavitRecording
internal import DavitServer

/// A result of `davit doctor`.
package struct DoctorFinding: Hashable, Sendable {
    package enum Level: String, Sendable {
        case ok, warning, problem
    }

    package let level: Level
    /// What was found, in one line.
    package let message: String
    /// What to do; nil for ``Level/ok``.
    package let advice: String?

    package static func ok(_ message: String) -> DoctorFinding { .init(.ok, message, nil) }

    package static func warning(_ message: String, _ advice: String?) -> DoctorFinding {
        .init(.warning, message, advice)
    }

    package static func problem(_ message: String, _ advice: String?) -> DoctorFinding {
        .init(.problem, message, advice)
    }

    /// Returns the failure with which `davit serve` would end.
    package static func problem(_ failure: CommandFailure) -> DoctorFinding {
        .init(.problem, failure.message, failure.advice)
    }

    private init(_ level: Level, _ message: String, _ advice: String?) {
        self.level = level
        self.message = message
        self.advice = advice
    }
}

/// A group of checks of `davit doctor`. Checks change nothing.
protocol DoctorCheck {
    /// The name in the output.
    static var name: String { get }
    /// Examines the machine. Blocks.
    static func findings(_ context: DoctorContext) -> [DoctorFinding]
}

/// What the checks examine.
struct DoctorContext: Sendable {
    let options: ServeOptions
    /// The configuration file, and the files with passwords that it names.
    let files: [String]
    /// The address of `--url`, with its trusted authorities.
    let server: ServerAddress?
    /// The account to sign in with there.
    let user: ServeOptions.User?
    /// The state folder of each share that has a usable one.
    let states: [DoctorState]
    /// Whether the user of the server is known to be that of this process.
    let isServerUser: Bool

    /// The processes of running servers.
    var runningProcesses: [Int32] { states.compactMap(\.process) }
}

/// A share and its state folder, as `davit serve` would find them.
struct DoctorState: Sendable {
    let options: ServeOptions
    /// The canonical path of the shared folder.
    let share: String
    let path: String
    /// The result of asking the server of the share for its status; nil if none responds.
    let status: [StatusLine]?
    /// The process of that server; nil if none responds or its number is unknown.
    let process: Int32?
}

/// The report of `davit doctor`.
package struct DoctorReport: Hashable, Sendable {
    /// The findings of one check.
    package struct Section: Hashable, Sendable {
        package let check: String
        package let findings: [DoctorFinding]

        package init(check: String, findings: [DoctorFinding]) {
            self.check = check
            self.findings = findings
        }
    }

    package let sections: [Section]

    package init(sections: [Section]) { self.sections = sections }

    package func count(_ level: DoctorFinding.Level) -> Int {
        sections.reduce(0) { $0 + $1.findings.count { $0.level == level } }
    }

    /// The text for people: a line for each finding, followed by what to do.
    package var text: String {
        var text = ""
        for section in sections {
            for finding in section.findings {
                let level = finding.level.rawValue
                text += level + String(repeating: " ", count: 9 - level.utf8.count)
                text += "\(section.check): \(Self.shown(finding.message))\n"
                if let advice = finding.advice {
                    text += String(repeating: " ", count: 9) + Self.shown(advice) + "\n"
                }
            }
        }
        return text
    }

    /// The same as JSON, for programs.
    package var json: String {
        var writer = JSONWriter()
        writer.object { json in
            json.member("problems", Int64(count(.problem)))
            json.member("warnings", Int64(count(.warning)))
            let findings = sections.flatMap { section in section.findings.map { (section.check, $0) } }
            json.member("findings", findings) { json, item in
                json.member("check", item.0)
                json.member("level", item.1.level.rawValue)
                json.member("message", item.1.message)
                json.member("advice", item.1.advice)
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self) + "\n"
    }

    private static func shown(_ text: String) -> String {
        text.split(separator: "\n").map { NameCheck.shown(Array($0.utf8)) }.joined(separator: "\n         ")
    }
}
