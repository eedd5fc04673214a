internal import DavitXML

extension Check {
    /// Returns nil if the check succeeds, otherwise a description of the failure.
    func failure(of answer: ResponseView, _ variables: Variables) -> String? {
        switch subject {
        case .field(let name, let test): Self.failure(test, of: answer.fields[name], variables)
        case .interim(let status):
            answer.interim.contains(status) ? nil : "interim responses: \(answer.interim)"
        case .body(let test): Self.failure(test, of: answer, variables)
        case .lock(let test): Self.failure(test, of: answer, variables)
        case .responseCount, .firstHref, .hasHref, .lacksHref, .rawHref, .isCollection, .responseStatus,
            .property:
            multistatusFailure(of: answer, variables)
        }
    }

    private static func failure(_ test: Test, of text: String, _ variables: Variables) -> String? {
        let holds: Bool
        do {
            switch test {
            case .equals(let value): holds = text == variables.filled(value)
            case .matches(let pattern): holds = try Pattern.match(variables.filled(pattern), in: text) != nil
            case .lacks(let pattern): holds = try Pattern.match(variables.filled(pattern), in: text) == nil
            }
        } catch {
            return "invalid regular expression"
        }
        return holds ? nil : "found '\(Excerpt.of(text))'"
    }

    private static func failure(_ test: FieldTest, of value: String?, _ variables: Variables) -> String? {
        switch test {
        case .isAbsent: return value.map { "found '\(Excerpt.of($0))'" }
        case .isPresent: return value == nil ? "missing" : nil
        case .hasToken(let token):
            guard let value else { return "missing" }
            let tokens = value.split(separator: ",").map {
                $0.filter { $0 != " " && $0 != "\t" }.lowercased()
            }
            return tokens.contains(variables.filled(token).lowercased())
                ? nil : "found '\(Excerpt.of(value))'"
        case .value(let test):
            guard let value else { return "missing" }
            return failure(test, of: value, variables)
        }
    }

    private static func failure(_ test: BodyTest, of answer: ResponseView, _ variables: Variables) -> String?
    {
        if case .hasBytes(let count) = test, answer.fields["Content-Encoding"] == nil {
            return answer.content.count == Int64(count) ? nil : "found \(answer.content.count)"
        }
        guard let body = answer.body else { return "the body cannot be decoded" }
        switch test {
        case .isEmpty: return body.isEmpty ? nil : "found \(body.count) bytes"
        case .hasBytes(let count): return body.count == count ? nil : "found \(body.count)"
        case .text(.equals(let text)):
            let wanted = Array(variables.filled(text).utf8)
            return body == wanted ? nil : "found '\(Excerpt.of(String(decoding: body, as: UTF8.self)))'"
        // Match bytes rather than characters, like a client that ignores the encoding.
        case .text(.matches(let pattern)):
            return failure(.matches(WireText.string(pattern.utf8)), of: WireText.string(body), variables)
        case .text(.lacks(let pattern)):
            return failure(.lacks(WireText.string(pattern.utf8)), of: WireText.string(body), variables)
        }
    }

    private static func failure(_ test: LockTest, of answer: ResponseView, _ variables: Variables) -> String?
    {
        guard let locks = answer.activeLocks, let last = locks.last else { return "no active lock" }
        switch test {
        case .tokenEqualsField:
            let field = answer.fields["Lock-Token"] ?? ""
            return field == "<\(last.token)>" ? nil : "'\(field)' in the field, '\(last.token)' in the body"
        case .tokenIs(let token):
            return last.token == variables.filled(token) ? nil : "found '\(last.token)'"
        case .timeout(let test): return failure(test, of: last.timeout, variables)
        case .owner(let test): return failure(test, of: last.owner, variables)
        case .depthIs(let depth): return last.depth == depth ? nil : "found '\(last.depth)'"
        case .countIs(let count): return locks.count == count ? nil : "found \(locks.count)"
        }
    }

    private func multistatusFailure(of answer: ResponseView, _ variables: Variables) -> String? {
        guard let multistatus = answer.multistatus else { return "the response is not a multistatus" }
        func response(_ href: String) -> Multistatus.Response? {
            multistatus.response(at: variables.filled(href))
        }
        let hrefs = multistatus.responses.map(\.href)
        switch subject {
        case .responseCount(let count):
            return hrefs.count == count ? nil : "found \(hrefs.count)"
        case .firstHref(let href):
            let wanted = Multistatus.path(variables.filled(href))
            return multistatus.responses.first?.path == wanted ? nil : "found '\(hrefs.first ?? "")'"
        case .hasHref(let href): return response(href) == nil ? "found \(hrefs)" : nil
        case .lacksHref(let href): return response(href) == nil ? nil : "found"
        case .rawHref(let href): return hrefs.contains(variables.filled(href)) ? nil : "found \(hrefs)"
        case .isCollection(let href, let wanted):
            guard let found = response(href) else { return "no response for this href" }
            return found.isCollection == wanted ? nil : "\(wanted ? "not " : "")a collection"
        case .responseStatus(let href, let status):
            guard let found = response(href) else { return "no response for this href" }
            return found.status == status ? nil : "found \(found.status.map(String.init) ?? "no status")"
        case .property(let href, let name, let test):
            guard let found = response(href) else { return "no response for this href" }
            return Self.failure(test, of: found.properties.filter { $0.name == name }, variables)
        case .field, .interim, .body, .lock: return nil
        }
    }

    private static func failure(
        _ test: PropertyTest, of found: [Multistatus.Property], _ variables: Variables
    ) -> String? {
        let statuses = found.map(\.status)
        let present = found.first { 200..<300 ~= $0.status }
        switch test {
        case .isPresent: return present == nil ? "found statuses \(statuses)" : nil
        case .isMissing: return statuses == [404] ? nil : "found statuses \(statuses)"
        case .isAbsent: return found.isEmpty ? nil : "found statuses \(statuses)"
        case .hasStatus(let status): return statuses == [status] ? nil : "found statuses \(statuses)"
        case .appearsOnce: return found.count == 1 ? nil : "found statuses \(statuses)"
        case .value(let test):
            guard let present else { return "found statuses \(statuses)" }
            return failure(test, of: present.text, variables)
        }
    }
}

extension Multistatus.Response {
    /// Whether the resource type in a propstat with status 200 is a collection.
    var isCollection: Bool {
        properties.contains { property in
            property.status == 200
                && property.name == ComparedProperty(namespace: "DAV:", local: "resourcetype")
                && property.element.children.contains { $0.isNamed("collection", in: "DAV:") }
        }
    }
}

/// Shortens a text for a report.
enum Excerpt {
    static func of(_ text: String) -> String {
        let line = text.map { $0.isNewline ? "↵" : $0 }
        return line.count <= 160 ? String(line) : String(line.prefix(160)) + "…"
    }
}
