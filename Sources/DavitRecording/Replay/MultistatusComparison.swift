internal import DavitXML

/// Compares two multistatus bodies by meaning: responses by path, because the members of a collection are
/// unordered, and the properties of each response by name, status and value.
struct MultistatusComparison {
    typealias Finding = ResponseComparison.Finding

    let comparison: ResponseComparison
    let recorded: Multistatus
    let actual: Multistatus

    func findings(_ roles: inout Roles) -> [Finding] {
        var findings: [Finding] = []
        let oldPaths = recorded.responses.map(\.path)
        let newPaths = actual.responses.map(\.path)
        if let old = recorded.responses.first, let new = actual.responses.first, old.path != new.path {
            findings.append(
                Finding(subject: "first response", detail: "recorded \(old.href), now \(new.href)"))
        }
        if oldPaths.count != Set(oldPaths).union(newPaths).count || newPaths.count != oldPaths.count {
            for response in recorded.responses where !newPaths.contains(response.path) {
                findings.append(Finding(subject: "response \(response.href)", detail: "now missing"))
            }
            for response in actual.responses where !oldPaths.contains(response.path) {
                findings.append(Finding(subject: "response \(response.href)", detail: "not recorded"))
            }
            if findings.isEmpty {
                let detail = "recorded \(oldPaths.count), now \(newPaths.count)"
                findings.append(Finding(subject: "number of responses", detail: detail))
            }
        }
        let byPath = Dictionary(
            actual.responses.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        for old in recorded.responses {
            guard let new = byPath[old.path] else { continue }
            findings += self.findings(old, new, &roles)
        }
        return findings + otherFindings(&roles)
    }

    private func findings(
        _ old: Multistatus.Response, _ new: Multistatus.Response, _ roles: inout Roles
    ) -> [Finding] {
        var findings: [Finding] = []
        func record(_ subject: String, _ detail: String) {
            findings.append(Finding(subject: "\(subject) of \(old.href)", detail: detail))
        }
        if old.status != new.status {
            func text(_ status: Int?) -> String { status.map(String.init) ?? "none" }
            record("status", "recorded \(text(old.status)), now \(text(new.status))")
        }
        for property in old.properties {
            let name = "property \(property.name.local)"
            guard let counterpart = new.properties.first(where: { $0.name == property.name }) else {
                record(name, "now missing")
                continue
            }
            guard property.status == counterpart.status else {
                record(name, "recorded with status \(property.status), now with status \(counterpart.status)")
                continue
            }
            if let detail = difference(property, counterpart, at: old.path, &roles) { record(name, detail) }
        }
        let oldNames = Set(old.properties.map(\.name))
        for property in new.properties where !oldNames.contains(property.name) {
            record("property \(property.name.local)", "not recorded")
        }
        return findings
    }

    private func difference(
        _ old: Multistatus.Property, _ new: Multistatus.Property, at path: [UInt8], _ roles: inout Roles
    ) -> String? {
        let (oldText, newText) = (old.text, new.text)
        if old.name.namespace == Multistatus.namespace {
            switch old.name.local {
            case "getetag" where !oldText.isEmpty && !newText.isEmpty:
                return roles.bind(tag: oldText, to: newText, at: path)
            case "sync-token" where !oldText.isEmpty && !newText.isEmpty:
                return roles.bind(token: oldText, to: newText)
            case "lockdiscovery":
                return LockComparison.difference(
                    ActiveLockView.all(in: old.element), ActiveLockView.all(in: new.element), &roles)
            case "quota-available-bytes", "quota-used-bytes":
                return Int64(oldText) != nil && Int64(newText) == nil ? "'\(newText)' is not a number" : nil
            case "getlastmodified": roles.bind(date: oldText, to: newText, at: path)
            default: break
            }
        }
        let (oldWhole, newWhole) = (comparison.origins.moved(text(of: old.element)), text(of: new.element))
        if oldWhole == newWhole { return nil }
        let before = ResponseComparison.withoutTimes(oldWhole)
        let now = ResponseComparison.withoutTimes(newWhole)
        return before == now ? nil : "recorded '\(Excerpt.of(before))', now '\(Excerpt.of(now))'"
    }

    /// Compares the names of the children of the root element that are not responses, such as
    /// `responsedescription`, and the values of `sync-token` by role.
    private func otherFindings(_ roles: inout Roles) -> [Finding] {
        var findings: [Finding] = []
        let names = recorded.others.map(\.local)
        if names != actual.others.map(\.local) {
            let detail = "recorded \(names), now \(actual.others.map(\.local))"
            findings.append(Finding(subject: "other elements of the multistatus", detail: detail))
        }
        for (old, new) in zip(recorded.others, actual.others) where old.isNamed("sync-token", in: "DAV:") {
            guard let detail = roles.bind(token: old.text, to: new.text) else { continue }
            findings.append(Finding(subject: "sync-token", detail: detail))
        }
        return findings
    }

    private func text(of element: XMLElement) -> String {
        String(decoding: element.serializedSelfContained(), as: UTF8.self)
    }
}

/// Compares active locks: tokens by role, and the remaining time by its format only.
enum LockComparison {
    static func difference(
        _ old: [ActiveLockView], _ new: [ActiveLockView], _ roles: inout Roles
    ) -> String? {
        guard old.count == new.count else {
            return "number of locks: recorded \(old.count), now \(new.count)"
        }
        for (before, now) in zip(old, new) {
            if let detail = roles.bind(token: before.token, to: now.token) { return detail }
            let isLimited = before.timeout.hasPrefix("Second-")
            if isLimited != now.timeout.hasPrefix("Second-") {
                return "recorded with timeout \(before.timeout), now with timeout \(now.timeout)"
            }
            func facts(_ lock: ActiveLockView) -> [String] {
                let root = String(decoding: Multistatus.path(lock.root), as: UTF8.self)
                return [lock.owner, lock.depth, root, lock.scope]
            }
            let (oldFacts, newFacts) = (facts(before), facts(now))
            if oldFacts != newFacts {
                return "owner, depth, root and scope: recorded \(oldFacts), now \(newFacts)"
            }
        }
        return nil
    }
}
