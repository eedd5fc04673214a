internal import DavitHTTP

/// Compares a response with the recorded one. Values that a server generates are compared by role
/// (``Roles``), and times by their format.
struct ResponseComparison {
    struct Finding: Hashable {
        var subject: String
        var detail: String
    }

    let recorded: ResponseView
    let actual: ResponseView
    let method: String
    /// The decoded path of the request.
    let path: [UInt8]
    /// The recorded value of `If-Range`.
    var ifRange: String?
    let origins: Origins

    /// Returns the difference in the status or, if the statuses are equal, the differences in the fields and
    /// then in the content. Adds generated values to `roles`.
    func findings(_ roles: inout Roles) -> [Finding] {
        // RFC 9110 §8.8.2.2: a date is a strong validator only after its second has passed, so either status
        // is valid.
        let statuses = [recorded.status, actual.status]
        if let ifRange, Self.isDate(ifRange), statuses == [200, 206] || statuses == [206, 200] { return [] }
        guard recorded.status == actual.status else {
            return [Finding(subject: "status", detail: "recorded \(recorded.status), now \(actual.status)")]
        }
        return fieldFindings(&roles) + contentFindings(&roles)
    }

    // MARK: Fields

    /// Fields that are not compared, because they describe the server, the transfer or a single request.
    private static let ignoredFields: Set<String> = [
        "server", "transfer-encoding", "keep-alive", "x-request-id", "age",
    ]
    /// Fields of which only the presence is compared, because the values are times or secrets.
    private static let fieldsByPresence: Set<String> = [
        "date", "expires", "set-cookie", "authentication-info", "proxy-authentication-info",
    ]

    private func fieldFindings(_ roles: inout Roles) -> [Finding] {
        var names: [String] = []
        for field in recorded.fields + actual.fields {
            let name = field.name.lowercased()
            if !names.contains(name), !Self.ignoredFields.contains(name) { names.append(name) }
        }
        var findings: [Finding] = []
        for name in names {
            guard let detail = difference(in: name, &roles) else { continue }
            findings.append(Finding(subject: "field \(name)", detail: detail))
        }
        return findings
    }

    private func difference(in name: String, _ roles: inout Roles) -> String? {
        // The length is compared together with the content. Without content, compare the field.
        let isBodiless = method == "HEAD" || recorded.status == 304
        if name == "content-length", !isBodiless { return nil }
        guard let old = recorded.fields[name] else {
            return "not recorded, now '\(actual.fields[name] ?? "")'"
        }
        guard let new = actual.fields[name] else { return "recorded '\(old)', now missing" }
        if Self.fieldsByPresence.contains(name) { return nil }
        switch name {
        case "etag": return roles.bind(tag: old, to: new, at: path)
        case "last-modified":
            roles.bind(date: old, to: new, at: path)
            return Self.isDate(new) ? nil : "'\(new)' is not a date"
        case "lock-token": return roles.bind(token: Self.bare(old), to: Self.bare(new))
        case "www-authenticate", "proxy-authenticate":
            return Self.withoutNonces(old) == Self.withoutNonces(new)
                ? nil : "recorded '\(old)', now '\(new)'"
        case "content-security-policy": return policyDifference(old, new, &roles)
        default:
            let moved = origins.moved(old)
            return moved == new ? nil : "recorded '\(Excerpt.of(old))', now '\(Excerpt.of(new))'"
        }
    }

    private static func bare(_ codedURL: String) -> String {
        codedURL.hasPrefix("<") && codedURL.hasSuffix(">")
            ? String(codedURL.dropFirst().dropLast()) : codedURL
    }

    private static func isDate(_ text: String) -> Bool {
        HTTPDate.parse(WireText.bytes(text).span, now: Timestamp(seconds: 0)) != nil
    }

    /// Removes the values that are new in each challenge (RFC 7616 §3.3).
    private static func withoutNonces(_ challenge: String) -> String {
        challenge.replacing(/(?i)\b(nonce|opaque)="[^"]*"/) { "\($0.output.1)" }
    }

    /// Returns the difference between two policies. The nonce of a policy is new in each response and is
    /// repeated in the content (Content Security Policy §2.3.1).
    private func policyDifference(_ old: String, _ new: String, _ roles: inout Roles) -> String? {
        let nonce = /(?i)'nonce-([^']*)'/
        let (before, now) = (old.matches(of: nonce), new.matches(of: nonce))
        if before.count == now.count {
            for (recorded, actual) in zip(before, now) {
                let detail = roles.bind(token: String(recorded.output.1), to: String(actual.output.1))
                if let detail { return detail }
            }
        }
        let moved = origins.moved(roles.translated(old))
        return moved == new ? nil : "recorded '\(Excerpt.of(moved))', now '\(Excerpt.of(new))'"
    }

    // MARK: Content

    private func contentFindings(_ roles: inout Roles) -> [Finding] {
        func finding(_ detail: String) -> [Finding] { [Finding(subject: "content", detail: detail)] }
        if let detail = digestDifference(roles) { return detail.isEmpty ? [] : finding(detail) }
        guard let old = recorded.body, let new = actual.body else {
            return recorded.content == actual.content ? [] : finding("one of the bodies cannot be decoded")
        }
        if old == new, recorded.root == nil { return [] }
        if let oldXML = recorded.multistatus, let newXML = actual.multistatus {
            return MultistatusComparison(comparison: self, recorded: oldXML, actual: newXML).findings(&roles)
        }
        if let oldLocks = recorded.activeLocks, let newLocks = actual.activeLocks {
            let detail = LockComparison.difference(oldLocks, newLocks, &roles)
            return detail.map { [Finding(subject: "active lock", detail: $0)] } ?? []
        }
        if old == new { return [] }
        // The response consists of placeholder bytes, which replaced content that was not recorded: only the
        // lengths can be compared.
        if roles.hasFiller, old.count == new.count, PlaceholderContent.contains(new) { return [] }
        return finding(textDifference(roles.translated(old), new) ?? "").filter { !$0.detail.isEmpty }
    }

    /// Compares content by length and digest. Returns the difference; an empty string if the contents are
    /// equal or cannot be compared; nil if both bodies are available and must be compared instead.
    private func digestDifference(_ roles: Roles) -> String? {
        guard recorded.body == nil || actual.body == nil else { return nil }
        let (count, now) = (recorded.content.count, actual.content.count)
        guard count == now else { return "recorded \(count) bytes, now \(now)" }
        if roles.hasFiller, let body = actual.body, PlaceholderContent.contains(body) { return "" }
        guard let digest = recorded.content.digest, let found = actual.content.digest else { return "" }
        let expected = roles.digest(for: digest)
        return expected == found ? "" : "SHA-256 is \(found), expected \(expected)"
    }

    /// Compares text. Ignores differences in times, origins and the free space; generated values in the
    /// recorded text have already been translated.
    private func textDifference(_ old: [UInt8], _ new: [UInt8]) -> String? {
        guard let oldText = String(validating: old, as: UTF8.self),
            let newText = String(validating: new, as: UTF8.self)
        else { return Self.firstDifference(old, new) }
        let before = Self.withoutFreeSpace(Self.withoutTimes(origins.moved(oldText)))
        let now = Self.withoutFreeSpace(Self.withoutTimes(newText))
        return before == now ? nil : Self.firstDifference(Array(before.utf8), Array(now.utf8))
    }

    /// Replaces times in the preferred format of RFC 9110 §5.6.7, and UTC times in the format of RFC 3339,
    /// which can have a space instead of the T, no seconds, and no Z.
    static func withoutTimes(_ text: String) -> String {
        text
            .replacing(
                /(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT/, with: "(date)"
            )
            .replacing(
                /[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?Z?/, with: "(date)")
    }

    /// Replaces the free space on the page of a folder. It depends on the volume, as the quota properties do.
    private static func withoutFreeSpace(_ text: String) -> String {
        text.replacing(/<span class="simple-free">[^<]*<\/span>/, with: "(free space)")
    }

    private static func firstDifference(_ old: [UInt8], _ new: [UInt8]) -> String {
        let start = zip(old, new).prefix { $0 == $1 }.count
        func part(_ bytes: [UInt8]) -> String {
            var text: [UInt8] = []
            RecordingText.append(escaping: bytes[start...].prefix(60), to: &text)
            return String(decoding: text, as: UTF8.self)
        }
        return "at byte \(start): recorded '\(part(old))', now '\(part(new))'"
    }
}
