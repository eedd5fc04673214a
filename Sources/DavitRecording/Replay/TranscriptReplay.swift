internal import DavitSystem

/// Replays a transcript in a new folder on a server, and evaluates the checks of the transcript.
package final class TranscriptReplay {
    private let target: ReplayTarget
    private let transcript: Transcript
    private let file: String
    private let client: WireClient
    private var variables = Variables([:])
    private var report = ReplayReport()

    /// - Parameter file: the file name for the report.
    package init(_ transcript: Transcript, file: String, target: ReplayTarget) {
        self.transcript = transcript
        self.file = file
        self.target = target
        client = target.client()
    }

    /// Sends every request in sequence, then removes the folder. Blocks.
    package func run() throws(ReplayError) -> ReplayReport {
        let name = try makeRoot()
        let root = target.server.path + name
        variables = Variables([
            "ROOT": root + "/", "ROOT0": root, "PARENT": target.server.path,
            "ORIGIN": target.server.origin, "AUTH": target.server.authority,
        ])
        for setup in transcript.setups { try make(setup, below: root + "/") }
        for exchange in transcript.exchanges { play(exchange) }
        client.close()
        removeRoot(root + "/")
        return report
    }

    // MARK: Before and after

    /// Creates a folder whose name is not in use, and returns the name.
    private func makeRoot() throws(ReplayError) -> String {
        for number in 1...1000 {
            let name = "davit-replay-\(number)"
            let status = try send("MKCOL", target.server.path + name + "/")
            if status == 201 { return name }
            guard status == 405 else {
                throw .setUp("MKCOL \(target.server.path)\(name)/ failed with status \(status)")
            }
        }
        throw .setUp("the folders davit-replay-1 to davit-replay-1000 already exist")
    }

    private func make(_ setup: Transcript.Setup, below root: String) throws(ReplayError) {
        let path = root + setup.path
        let status =
            switch setup.content {
            case .folder: try send("MKCOL", path + "/")
            case .text(let text): try send("PUT", path, content: .bytes(Array(text.utf8)))
            case .fill(let byte, let count): try send("PUT", path, content: .fill(byte, count: count))
            }
        guard status == 201 else { throw .setUp("cannot create \(path): status \(status)") }
    }

    private func send(
        _ method: String, _ path: String, content: RecordedContent? = nil
    ) throws(ReplayError) -> Int {
        do throws(WireError) {
            return try client.exchange(request(method, path, [], content)).status
        } catch {
            throw .cannotConnect(error.text)
        }
    }

    private func request(
        _ method: String, _ path: String, _ fields: [WireField], _ content: RecordedContent? = nil
    ) -> WireRequest {
        var all = [WireField(name: "Host", value: target.server.authority)]
        if let authorization = target.authorization { all.append(authorization) }
        all += fields
        if let content { all.append(WireField(name: "Content-Length", value: "\(content.count)")) }
        return WireRequest(method: method, target: path, fields: all, content: content ?? .bytes([]))
    }

    /// Removes the folder, and any locks that prevent its removal. Failures are reported.
    private func removeRoot(_ root: String) {
        defer { client.close() }
        do throws(WireError) {
            var status = try client.exchange(request("DELETE", root, [])).status
            if status == 423 || status == 207 {
                try unlockAll(below: root)
                status = try client.exchange(request("DELETE", root, [])).status
            }
            if 200..<300 ~= status { return }
            remark("DELETE \(root)", "the folder could not be removed", "status \(status)")
        } catch {
            remark("DELETE \(root)", "the folder could not be removed", error.text)
        }
    }

    private func unlockAll(below root: String) throws(WireError) {
        let body = "<propfind xmlns=\"DAV:\"><prop><lockdiscovery/></prop></propfind>"
        let answer = ResponseView(
            try client.exchange(
                request(
                    "PROPFIND", root, [WireField(name: "Depth", value: "infinity")],
                    .bytes(Array(body.utf8)))))
        for response in answer.multistatus?.responses ?? [] {
            for property in response.properties {
                for lock in ActiveLockView.all(in: property.element) {
                    let field = WireField(name: "Lock-Token", value: "<\(lock.token)>")
                    _ = try client.exchange(request("UNLOCK", response.href, [field]))
                }
            }
        }
    }

    private func remark(_ request: String, _ subject: String, _ detail: String) {
        report.advice.append(
            .init(file: file, step: "clean-up", request: request, subject: subject, detail: detail))
    }

    // MARK: Exchanges

    private func play(_ exchange: RecordedExchange) {
        if exchange.opensConnection { client.close() }
        if exchange.waitSeconds > 0 { SystemThread.sleep(seconds: exchange.waitSeconds) }
        report.exchangeCount += 1
        let request = request(of: exchange)
        let answer: ResponseView
        do throws(WireError) {
            answer = ResponseView(try client.exchange(request))
        } catch {
            record(exchange, "response", error.text)
            return
        }
        if !exchange.statuses.isEmpty, !exchange.statuses.contains(answer.status) {
            let allowed = exchange.statuses.map(String.init).joined(separator: " or ")
            record(exchange, "status", "expected \(allowed), found \(answer.status)")
        }
        // A body that clients cannot parse is always a failure.
        let isMultistatus = answer.status == 207
        let isLock = exchange.method == "LOCK" && (answer.status == 200 || answer.status == 201)
        if isMultistatus || isLock, !answer.isWellFormed {
            record(exchange, "body", "not well-formed XML")
        }
        for check in exchange.checks {
            guard let failure = check.failure(of: answer, variables) else { continue }
            record(exchange, check.text, failure, isAdvice: check.isAdvice)
        }
        for capture in exchange.captures where !take(capture, of: answer) {
            record(exchange, capture.text, "not found")
        }
    }

    private func request(of exchange: RecordedExchange) -> WireRequest {
        var content = exchange.content
        if case .bytes(let bytes) = content {
            content = .bytes(Array(variables.filled(String(decoding: bytes, as: UTF8.self)).utf8))
        }
        var fields = [WireField(name: "Host", value: target.server.authority)]
        if let authorization = target.authorization { fields.append(authorization) }
        for field in exchange.fields {
            fields.append(WireField(name: field.name, value: variables.filled(field.value)))
        }
        var request = WireRequest(
            method: exchange.method, target: variables.filled(exchange.target),
            minorVersion: exchange.minorVersion, fields: [], content: content,
            awaitsContinue: exchange.awaitsContinue)
        if exchange.awaitsContinue { fields.append(WireField(name: "Expect", value: "100-continue")) }
        switch exchange.framing ?? (content.count > 0 ? .length : .none) {
        case .none: break
        case .zero: fields.append(WireField(name: "Content-Length", value: "0"))
        case .length: fields.append(WireField(name: "Content-Length", value: "\(content.count)"))
        case .chunked(let size):
            fields.append(WireField(name: "Transfer-Encoding", value: "chunked"))
            request.chunkBytes = size
        }
        request.fields = fields
        return request
    }

    private func take(_ capture: Capture, of answer: ResponseView) -> Bool {
        switch capture.source {
        case .field(let name, let pattern):
            guard let value = answer.fields[name],
                let groups = try? Pattern.match(variables.filled(pattern), in: value), groups.count > 1,
                let group = groups[1]
            else { return false }
            variables[capture.name] = String(group)
        case .property(let href, let name):
            let response = answer.multistatus?.response(at: variables.filled(href))
            guard let property = response?.properties.first(where: { $0.name == name && $0.status == 200 })
            else {
                return false
            }
            variables[capture.name] = property.text
        }
        return true
    }

    private func record(
        _ exchange: RecordedExchange, _ subject: String, _ detail: String, isAdvice: Bool = false
    ) {
        let difference = ReplayReport.Difference(
            file: file, step: exchange.title,
            request: "\(exchange.method) \(variables.filled(exchange.target))", subject: subject,
            detail: detail)
        if isAdvice { report.advice.append(difference) } else { report.differences.append(difference) }
    }
}
