internal import DavitHTTP

/// Replays the recordings of one session against a server, and reports differences from the recorded
/// responses.
///
/// The requests of each recorded connection are sent on one connection. Across all connections, requests are
/// sent one at a time, in the order in which they were completed.
package final class RecordingReplay {
    private struct Step {
        let file: String
        let exchange: RecordedExchange
        let isLast: Bool
    }

    private let target: ReplayTarget
    private let steps: [Step]
    private let origins: Origins
    private var clients: [String: WireClient] = [:]
    private var roles = Roles()
    private var report = ReplayReport()

    /// - Parameter recordings: the recordings with their file names.
    package init(_ recordings: [(file: String, recording: Transcript)], target: ReplayTarget) {
        self.target = target
        var steps: [Step] = []
        var hosts: [String: Int] = [:]
        for (file, recording) in recordings {
            for (index, exchange) in recording.exchanges.enumerated() {
                let isLast = index == recording.exchanges.count - 1
                steps.append(Step(file: file, exchange: exchange, isLast: isLast))
                if let host = exchange.fields["Host"] { hosts[host, default: 0] += 1 }
            }
        }
        self.steps = steps.sorted { $0.exchange.order < $1.exchange.order }
        let host = hosts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? ""
        origins = Origins(recordedHost: host, actual: target.server.origin)
    }

    /// Sends all requests that were recorded completely, and compares the responses. Blocks until the end.
    package func run() throws(ReplayError) -> ReplayReport {
        for step in steps {
            if let reason = Self.reasonToSkip(step.exchange) {
                report.skipped.append(difference(step, "request", reason))
            } else {
                try play(step)
            }
            if step.isLast { clients.removeValue(forKey: step.file)?.close() }
        }
        return report
    }

    private static func reasonToSkip(_ exchange: RecordedExchange) -> String? {
        switch exchange.gap {
        case .request: "incomplete request"
        case .answer: "incomplete response"
        case nil: exchange.answer == nil ? "response not recorded" : nil
        }
    }

    private func play(_ step: Step) throws(ReplayError) {
        let exchange = step.exchange
        let path = Multistatus.path(exchange.target.prefix { $0 != "?" }.description)
        let request = request(exchange, path)
        let client = clients[step.file] ?? target.client()
        clients[step.file] = client
        let answer: ResponseView
        do throws(WireError) {
            answer = ResponseView(try client.exchange(request))
        } catch {
            // If the first request gets no response, the server is probably unreachable, and the other steps
            // would fail too.
            if report.exchangeCount == 0 { throw .cannotConnect(error.text) }
            report.exchangeCount += 1
            report.differences.append(difference(step, "response", error.text))
            return
        }
        report.exchangeCount += 1
        learnFiller(exchange)
        guard let recorded = exchange.answer, let status = exchange.statuses.first else { return }
        let comparison = ResponseComparison(
            recorded: ResponseView(status: status, fields: recorded.fields, content: recorded.content),
            actual: answer, method: exchange.method, path: path,
            ifRange: exchange.fields["If-Range"],
            origins: origins)
        for finding in comparison.findings(&roles) {
            report.differences.append(difference(step, finding.subject, finding.detail))
        }
    }

    /// Stores the digest of the content that was sent in place of omitted content, so that responses with
    /// this content can be compared.
    private func learnFiller(_ exchange: RecordedExchange) {
        guard case .omitted(let count, let digest) = exchange.content else { return }
        roles.hasFiller = true
        guard let digest, let actual = RecordedContent.digest(of: PlaceholderContent.pattern, count: count)
        else {
            return
        }
        roles.bind(digest: digest, to: actual)
    }

    // MARK: Requests

    private func request(_ exchange: RecordedExchange, _ path: [UInt8]) -> WireRequest {
        var content = exchange.content
        if case .bytes(let bytes) = content { content = .bytes(roles.translated(bytes)) }
        var request = WireRequest(
            method: exchange.method, target: origins.moved(exchange.target),
            minorVersion: exchange.minorVersion,
            fields: [], content: content, awaitsContinue: exchange.awaitsContinue,
            isContentWithheld: exchange.isContentWithheld)
        for field in exchange.fields {
            switch field.name.lowercased() {
            case "host" where field.value == origins.recordedHost:
                request.fields.append(WireField(name: field.name, value: target.server.authority))
            case "content-length" where !exchange.isContentWithheld:
                request.fields.append(WireField(name: field.name, value: "\(content.count)"))
            case "authorization" where CredentialMask.isMasked(field):
                if let authorization = target.authorization { request.fields.append(authorization) }
            case _ where CredentialMask.isMasked(field): break
            default:
                let value = origins.moved(roles.translated(field, at: path))
                request.fields.append(WireField(name: field.name, value: value))
            }
        }
        if exchange.fields["Transfer-Encoding"] != nil {
            if case .chunked(let size) = exchange.framing {
                request.chunkBytes = size
            } else {
                request.chunkBytes = 8192
            }
        }
        return request
    }

    private func difference(_ step: Step, _ subject: String, _ detail: String) -> ReplayReport.Difference {
        ReplayReport.Difference(
            file: step.file, step: step.exchange.title,
            request: "\(step.exchange.method) \(step.exchange.target)", subject: subject, detail: detail)
    }
}
