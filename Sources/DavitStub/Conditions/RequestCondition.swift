internal import DavitHTTP
internal import DavitSQLite
internal import DavitXML

/// A condition of a rule: a part of the request, and tests of it. The same conditions select rules (`when`) and
/// check requests (`checks`).
struct RequestCondition: Sendable {
    /// What is wrong with a request.
    struct Problem: Hashable, Sendable {
        /// The part of the request, such as `json $.email`.
        var subject: String
        var problem: String
        /// The value, possibly shortened; nil if there is none.
        var value: String?
    }

    /// A part of a request.
    private enum Subject: Sendable {
        case query(String)
        case field(String)
        case form(String)
        case parameter(String)
        case json(String)
        case xml(XPathExpression)
        case content
        /// The type of the content; the subtype is nil for all.
        case type(String, subtype: String?)
    }

    private let subject: Subject
    /// Whether the subject must exist; nil if it may be absent, but is tested otherwise.
    private let exists: Bool?
    private let tests: [ValueTest]
    private let contentTests: ContentTests?

    /// - Parameters:
    ///   - column: the place of the condition, such as `when[0]`.
    ///   - folder: the folder of the files of schemas.
    /// - Throws: ``RuleError`` for a condition that cannot work.
    init(_ json: JSONValue, column: String, folder: String) throws(RuleError) {
        guard let members = json.members else { throw RuleError(column: column, "a condition is an object") }
        var reader = RuleReader(members: members, column: column)
        let kinds = ["query", "field", "form", "parameter", "json", "xml", "content", "type"]
        let given = kinds.filter { json[$0] != nil }
        guard given.count == 1, let kind = given.first else {
            throw RuleError(column: column, "needs exactly one of \(kinds.joined(separator: ", "))")
        }
        subject = try Self.subject(kind, &reader, column: column)
        let isOptional = try reader.flag("optional") ?? false
        let exists = try reader.flag("exists") ?? true
        self.exists = isOptional ? nil : exists
        var tests: [ValueTest] = []
        let names = ValueTest.names + (kind == "json" ? ["schema"] : [])
        // The tests of the length of content concern its bytes.
        for name in names where !(kind == "content" && name.hasSuffix("Length")) {
            guard let value = reader.taking(name) else { continue }
            tests.append(try ValueTest(name, value, column: "\(column).\(name)"))
        }
        self.tests = tests
        contentTests = kind == "content" ? try ContentTests(&reader, column: column, folder: folder) : nil
        try reader.finish()
        if !exists, isOptional || !tests.isEmpty || contentTests?.isEmpty == false {
            throw RuleError(column: "\(column).exists", "what must not exist cannot be tested")
        }
        if kind == "type", !tests.isEmpty || isOptional || !exists {
            throw RuleError(column: "\(column).type", "excludes tests; use the field Content-Type")
        }
    }

    private static func subject(
        _ kind: String, _ reader: inout RuleReader, column: String
    ) throws(RuleError) -> Subject {
        if kind == "content" {
            guard try reader.flag("content") == true else {
                throw RuleError(column: "\(column).content", "must be true")
            }
            return .content
        }
        guard let text = try reader.text(kind), !text.isEmpty else {
            throw RuleError(column: "\(column).\(kind)", "is empty")
        }
        switch kind {
        case "query": return .query(text)
        case "field": return .field(text)
        case "form": return .form(text)
        case "parameter": return .parameter(text)
        case "json":
            guard JSONParser.isPath(text) else {
                throw RuleError(column: "\(column).json", "not a JSON path such as $.user.name or $.items[0]")
            }
            return .json(text)
        case "xml":
            var namespaces: [String: String] = [:]
            if let value = reader.take("namespaces") {
                for member in value.members ?? [] {
                    guard let name = member.value.text else {
                        throw RuleError(
                            column: "\(column).namespaces.\(member.name)",
                            "must be a string, not \(member.value.kind)")
                    }
                    namespaces[member.name] = name
                }
            }
            let path: XPathExpression
            do throws(XPathExpression.Failure) {
                path = try XPathExpression(text, namespaces: namespaces)
            } catch {
                throw RuleError(column: "\(column).xml", "not an XPath 1.0 expression: \(error.message)")
            }
            return .xml(path)
        default:
            let parts = text.lowercased().split(separator: "/", omittingEmptySubsequences: false).map(
                String.init)
            guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
                throw RuleError(
                    column: "\(column).type", "not a media type such as application/json or image/*")
            }
            return .type(parts[0], subtype: parts[1] == "*" ? nil : parts[1])
        }
    }

    /// Whether the condition needs the digest, or the digests in the fields, of the content.
    var needsSHA256: Bool { contentTests?.sha256 != nil }
    var needsDigests: Bool { contentTests?.digest != nil }

    /// Returns what is wrong with a request; nil if the condition holds.
    func problem(in request: ReceivedRequest) -> Problem? {
        if case .type(let type, let subtype) = subject {
            let found = request.content?.type ?? ""
            let parts = found.split(separator: "/").map(String.init)
            let isRight = parts.count == 2 && parts[0] == type && (subtype == nil || parts[1] == subtype)
            return isRight ? nil : problem("is not \(type)/\(subtype ?? "*")", found)
        }
        let values: [JSONValue]
        switch find(in: request) {
        case .found(let found): values = found
        case .unreadable(let reason): return exists == false ? nil : problem(reason, nil)
        }
        guard let value = values.first else { return exists == true ? problem("is missing", nil) : nil }
        if exists == false { return problem("is present", ValueTest.text(of: value)) }
        if let content = request.content, let contentTests, let found = contentTests.problem(in: content) {
            return problem(found, nil)
        }
        // Of several values with one name, one must pass all tests.
        var first: Problem?
        for value in values {
            var found: Problem?
            for test in tests {
                guard let text = test.problem(value) else { continue }
                found = problem(text, ValueTest.text(of: value))
                break
            }
            if found == nil { return nil }
            first = first ?? found
        }
        return first
    }

    /// Returns the text of the first value of the subject; nil if there is none.
    func value(in request: ReceivedRequest) -> String? {
        guard case .found(let values) = find(in: request) else { return nil }
        return values.first.map { ValueTest.text(of: $0) }
    }

    private func problem(_ text: String, _ value: String?) -> Problem {
        Problem(subject: name, problem: text, value: value.map { String($0.prefix(200)) })
    }

    private var name: String {
        switch subject {
        case .query(let name): "query \(name)"
        case .field(let name): "field \(name)"
        case .form(let name): "form \(name)"
        case .parameter(let name): "parameter \(name)"
        case .json(let path): "json \(path)"
        case .xml(let path): "xml \(path.text)"
        case .content: "content"
        case .type: "type"
        }
    }

    private enum Finding {
        case found([JSONValue])
        /// The content cannot be read as the subject requires.
        case unreadable(String)
    }

    private func find(in request: ReceivedRequest) -> Finding {
        func values(_ name: String, _ items: [ReceivedRequest.Item]) -> Finding {
            .found(items.filter { $0.name == name }.map { .string($0.value) })
        }
        switch subject {
        case .query(let name): return values(name, request.query)
        case .parameter(let name): return values(name, request.parameters)
        case .field(let name): return .found(request.field(name).map { [.string($0)] } ?? [])
        case .type: return .found([])
        case .content, .form, .json, .xml: break
        }
        guard let content = request.content, content.length > 0 else { return .found([]) }
        if case .content = subject {
            if tests.isEmpty { return .found([""]) }
            guard content.isComplete else { return .unreadable(Self.tooLong) }
            return .found([.string(String(decoding: content.bytes, as: UTF8.self))])
        }
        guard content.isComplete else { return .unreadable(Self.tooLong) }
        switch subject {
        case .form(let name):
            guard let items = FormContent.items(of: content) else {
                return .unreadable("the content is not a form")
            }
            return values(name, items)
        case .json(let path):
            guard let text = String(validating: content.bytes, as: UTF8.self), JSONParser.isValid(text) else {
                return .unreadable("the content is not JSON")
            }
            return .found(JSONParser.value(at: path, in: text).map { [$0] } ?? [])
        case .xml(let path):
            do throws(XMLText.Unreadable) {
                return .found(try path.texts(in: content.bytes).map { .string($0) })
            } catch {
                return .unreadable("the content \(error.problem)")
            }
        default: return .found([])
        }
    }

    private static let tooLong = "the content is longer than 4 MiB and cannot be examined"
}
