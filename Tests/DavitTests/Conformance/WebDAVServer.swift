import Davit
import DavitTesting
import Testing

/// A complete server with a share at `/`, for a sequence of exchanges.
struct WebDAVServer {
    private let folder: TemporaryFolder
    private let state: TemporaryFolder
    private let configuration: Configuration

    init(_ change: (inout Configuration) -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        state = try TemporaryFolder()
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        change(&configuration)
        self.configuration = configuration
    }

    func serve(_ body: (ChangeEventClient) throws -> Void) throws {
        let server = try WebServer(configuration: configuration) { routes in
            routes.mount("/", WebDAVShare(folder.path, stateFolder: state.path))
        }
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(ChangeEventClient(address: try #require(addresses.first)))
    }

    /// Sends the requests of an exchange in order.
    func play(_ exchange: WebDAVExchange) throws {
        try serve { client in
            var known = Known()
            for (index, step) in exchange.steps.enumerated() {
                let answer = try client.send(
                    known.expand(step.line), step.fields.map(known.expand),
                    content: known.expand(step.content))
                let place = "\(exchange), step \(index + 1), \(step.line) \(step.fields)"
                check(answer, step, known, place)
                known.learn(from: answer)
            }
        }
    }

    private func check(
        _ answer: ChangeEventClient.Answer, _ step: WebDAVExchange.Step, _ known: Known, _ place: String
    ) {
        let content = answer.decodedContent
        #expect(answer.status == step.status, "\(place): \(content)")
        for (name, value) in step.expected {
            let found = answer[name]
            switch value {
            case nil: #expect(found == nil, "\(place): \(name)")
            case "*": #expect(found?.isEmpty == false, "\(place): \(name)")
            case .some(let text): #expect(found == known.expand(text), "\(place): \(name)")
            }
        }
        for text in step.holds {
            #expect(content.contains(known.expand(text)), "\(place): \(text) in \(content.prefix(4000))")
        }
        for text in step.lacks {
            #expect(!content.contains(known.expand(text)), "\(place): \(text) in \(content.prefix(4000))")
        }
    }

    /// Values of earlier responses.
    private struct Known {
        var tokens: [String] = []
        var tag = ""

        func expand(_ text: String) -> String {
            guard text.contains("{") else { return text }
            var text = text.replacing("{tag}", with: tag)
            for (index, token) in tokens.enumerated() {
                text = text.replacing("{\(index + 1)}", with: token)
            }
            return text
        }

        mutating func learn(from answer: ChangeEventClient.Answer) {
            if let token = answer["Lock-Token"] { tokens.append(String(token.dropFirst().dropLast())) }
            if let tag = answer["ETag"] { self.tag = tag }
        }
    }
}
