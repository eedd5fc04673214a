import DavitEngine
import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// A short exchange with a share, as a table row: the requests and the expected statuses.
struct Scenario: Sendable, CustomTestStringConvertible {
    struct Step: Sendable {
        var line: String
        var fields: [(String, String)] = []
        var body: String?
        var status: UInt16
        /// Texts that the response body must contain.
        var holds: [String] = []
        /// Texts that the response body must not contain.
        var lacks: [String] = []
        var principal: String?
    }

    /// The clause of the specification and the expected behavior.
    let name: String
    let steps: [Step]

    init(_ name: String, _ steps: [Step]) {
        self.name = name
        self.steps = steps
    }

    var testDescription: String { name }
}

/// Creates a step from `METHOD /target`, the fields and body, and the expected status. In fields and bodies,
/// `$1`, `$2` … are replaced by the tokens of the locks taken so far, `$e` by the most recent entity tag.
func step(
    _ line: String, _ fields: [(String, String)] = [], _ body: String? = nil, _ status: UInt16,
    holds: [String] = [], lacks: [String] = [], as principal: String? = nil
) -> Scenario.Step {
    Scenario.Step(
        line: line, fields: fields, body: body, status: status, holds: holds, lacks: lacks,
        principal: principal)
}

/// Creates a step that runs shell commands in the shared folder; they must succeed. `$aside` is replaced by
/// the folder for sidecar files.
func shell(_ commands: String) -> Scenario.Step { step("SHELL \(commands)", [], nil, 0) }

/// Creates a step that advances the clock.
func later(seconds: Int64) -> Scenario.Step { step("LATER \(seconds)", [], nil, 0) }

/// Creates a LOCK step; `status` is the expected status.
func lock(
    _ target: String, depth: String = "infinity", scope: String = "exclusive", status: UInt16 = 200,
    fields: [(String, String)] = [], as principal: String? = nil
) -> Scenario.Step {
    Scenario.Step(
        line: "LOCK \(target)", fields: [("Depth", depth)] + fields, body: lockBody(scope: scope),
        status: status, principal: principal)
}

func lockBody(scope: String) -> String {
    """
    <?xml version="1.0"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:\(scope)/></D:lockscope>\
    <D:locktype><D:write/></D:locktype><D:owner>me</D:owner></D:lockinfo>
    """
}

func setProperty(_ name: String, _ value: String) -> String {
    """
    <D:propertyupdate xmlns:D="DAV:" xmlns:x="urn:x"><D:set><D:prop><x:\(name)>\(value)</x:\(name)>\
    </D:prop></D:set></D:propertyupdate>
    """
}

func askProperty(_ name: String) -> String {
    "<D:propfind xmlns:D=\"DAV:\" xmlns:x=\"urn:x\"><D:prop><x:\(name)/></D:prop></D:propfind>"
}

extension TestShare {
    /// Plays the steps in a folder on disk and in one in memory, which use different code paths.
    /// - Parameters:
    ///   - prefix: The path at which the share is mounted; nil for a share without a router.
    ///   - configure: Changes the configuration of the share.
    static func play(
        _ scenario: Scenario, mountedAt prefix: String? = nil,
        _ configure: (inout ShareConfiguration) -> Void = { _ in }
    ) async throws {
        for parent in ["/tmp", "/dev/shm"] {
            let share = try TestShare(TemporaryFolder(in: parent), configure)
            guard let prefix else {
                try await share.play(scenario)
                continue
            }
            let router = Router { $0.mount(prefix, WebDAVHandler(share: share.share, page: nil)) }
            try await share.play(scenario, TestClient(router))
        }
    }

    func play(_ scenario: Scenario) async throws { try await play(scenario, client) }

    /// Plays the steps in order.
    func play(_ scenario: Scenario, _ client: TestClient<some Handler>) async throws {
        var tokens: [String] = []
        var tag = ""
        for (index, step) in scenario.steps.enumerated() {
            func filled(_ text: String) -> String {
                var text = text.replacing("$e", with: tag)
                for (number, token) in tokens.enumerated() {
                    text = text.replacing("$\(number + 1)", with: token)
                }
                return text
            }
            let parts = step.line.split(separator: " ", maxSplits: 1).map(String.init)
            if parts[0] == "SHELL" {
                let commands = parts[1].replacing("$aside", with: aside?.path ?? "")
                #expect(shell(commands) == 0, "\(scenario.name): \(commands)")
                continue
            }
            if parts[0] == "LATER" {
                wait(seconds: Int64(parts[1]) ?? 0)
                continue
            }
            let response = try await client.send(
                parts[0], parts[1], step.fields.map { ($0.0, filled($0.1)) },
                body: step.body.map { Array(filled($0).utf8) }, principal: step.principal)
            let place = "\(scenario.name): step \(index + 1), \(step.line)"
            #expect(response.status == step.status, "\(place): \(response.text)")
            for text in step.holds {
                #expect(response.text.contains(filled(text)), "\(place): \(response.text)")
            }
            for text in step.lacks {
                #expect(!response.text.contains(filled(text)), "\(place): \(response.text)")
            }
            if let token = response["Lock-Token"] { tokens.append(String(token.dropFirst().dropLast())) }
            if let newTag = response["ETag"] { tag = newTag }
        }
    }
}
