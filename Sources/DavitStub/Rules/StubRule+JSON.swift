internal import DavitHTTP
internal import DavitSQLite

/// The JSON form of a rule, as in the API and in the database.
extension StubRule {
    /// - Throws: ``RuleError`` for a member that is unknown or has the wrong form. Whether paths, conditions
    ///   and templates are valid is checked later; see ``CompiledRule``.
    public init(json: JSONValue) throws(RuleError) {
        var name = ""
        do throws(RuleError) {
            guard let members = json.members else { throw RuleError(column: "", "a rule is a JSON object") }
            var reader = RuleReader(members: members)
            name = try reader.text("name") ?? ""
            guard (1...100).contains(name.count), !name.unicodeScalars.contains(where: { $0.value < 32 })
            else {
                throw RuleError(column: "name", "a name has 1 to 100 characters, without control characters")
            }
            guard let path = try reader.text("path") else { throw RuleError(column: "path", "is missing") }
            self.init(name, path: path)
            try read(&reader)
            try reader.finish()
        } catch {
            throw RuleError(rule: name, column: error.column, error.problem)
        }
    }

    private mutating func read(_ reader: inout RuleReader) throws(RuleError) {
        isEnabled = try reader.flag("enabled") ?? true
        for (index, value) in try reader.array("methods").enumerated() {
            methods.append(try Self.method(value, column: "methods[\(index)]"))
        }
        conditions = try reader.array("when")
        checks = try reader.array("checks")
        if let status = try reader.integer("checkStatus", 200...599) {
            checkStatus = HTTPStatus(UInt16(status))
        }
        for (index, value) in try reader.array("replies").enumerated() {
            replies.append(try StubReply(json: value, column: "replies[\(index)]"))
        }
        choice = try reader.choice("choose") ?? .cycle
        faults = try reader.text("faults") ?? ""
        if let value = reader.take("scenario") { scenario = try Scenario(json: value) }
        session = try reader.choice("session")
        sessionSeconds = try reader.integer("sessionSeconds", 1...31_536_000) ?? 3600
        isCollection = try reader.flag("collection") ?? false
        // The number of requests, which the API adds.
        _ = reader.take("hits")
    }

    private static func method(_ value: JSONValue, column: String) throws(RuleError) -> HTTPMethod {
        guard let text = value.text, !text.isEmpty, text.utf8.allSatisfy(\.isTokenCharacter) else {
            throw RuleError(column: column, "a method is a token such as GET")
        }
        return HTTPMethod.named.first { "\($0.name)" == text }?.method ?? .other(text)
    }

    /// The rule in JSON. Members that have their default value are omitted.
    public var json: JSONValue {
        var members: [JSONMember] = [.init("name", .string(name))]
        if !isEnabled { members.append(.init("enabled", false)) }
        if !methods.isEmpty { members.append(.init("methods", .array(methods.map { .string($0.rawValue) }))) }
        members.append(.init("path", .string(path)))
        if !conditions.isEmpty { members.append(.init("when", .array(conditions))) }
        if !checks.isEmpty { members.append(.init("checks", .array(checks))) }
        if checkStatus.code != 422 { members.append(.init("checkStatus", .integer(Int64(checkStatus.code)))) }
        if !replies.isEmpty { members.append(.init("replies", .array(replies.map(\.json)))) }
        if choice != .cycle { members.append(.init("choose", .string(choice.rawValue))) }
        if !faults.isEmpty { members.append(.init("faults", .string(faults))) }
        if let scenario { members.append(.init("scenario", scenario.json)) }
        if let session { members.append(.init("session", .string(session.rawValue))) }
        if sessionSeconds != 3600 { members.append(.init("sessionSeconds", .integer(sessionSeconds))) }
        if isCollection { members.append(.init("collection", true)) }
        return .object(members)
    }
}

extension StubRule.Scenario {
    init(json: JSONValue) throws(RuleError) {
        guard let members = json.members else {
            throw RuleError(column: "scenario", "a scenario is an object with name, from and to")
        }
        var reader = RuleReader(members: members, column: "scenario")
        guard let name = try reader.text("name"), !name.isEmpty, name.utf8.count <= 100 else {
            throw RuleError(column: "scenario.name", "a name has 1 to 100 bytes")
        }
        self.init(name, from: try reader.text("from"), to: try reader.text("to"))
        try reader.finish()
    }

    var json: JSONValue {
        var members: [JSONMember] = [.init("name", .string(name))]
        if let from { members.append(.init("from", .string(from))) }
        if let to { members.append(.init("to", .string(to))) }
        return .object(members)
    }
}

extension StubReply {
    init(json: JSONValue, column: String) throws(RuleError) {
        guard let members = json.members else { throw RuleError(column: column, "a reply is an object") }
        var reader = RuleReader(members: members, column: column)
        let status = try reader.integer("status", 200...599) ?? 200
        self.init(HTTPStatus(UInt16(status)))
        if let value = reader.take("fields") {
            guard let members = value.members else {
                throw RuleError(column: "\(column).fields", "the fields are an object of names and values")
            }
            for member in members {
                guard let text = member.value.text, !member.name.isEmpty,
                    member.name.utf8.allSatisfy(\.isTokenCharacter),
                    !text.utf8.contains(where: { $0 == 13 || $0 == 10 || $0 == 0 })
                else {
                    throw RuleError(
                        column: "\(column).fields.\(member.name)", "not a field name and a value of one line")
                }
                fields.append(Field(member.name, text))
            }
        }
        let kinds = ["text", "json", "template", "base64", "file"]
        let given = kinds.filter { name in members.contains { $0.name == name } }
        if given.count > 1 {
            throw RuleError(column: column, "only one of \(kinds.joined(separator: ", ")) is possible")
        }
        if let text = try reader.text("text") { content = .text(text) }
        if let value = reader.take("json") { content = .json(value) }
        if let text = try reader.text("template") { content = .template(text) }
        if let text = try reader.text("file") { content = .file(text) }
        if let text = try reader.text("base64") {
            guard let bytes = Base64.decode(Array(text.utf8).span) else {
                throw RuleError(column: "\(column).base64", "not Base64")
            }
            content = .bytes(bytes)
        }
        if let value = reader.take("weight") {
            guard let weight = value.double, weight >= 0, weight <= 1e6 else {
                throw RuleError(column: "\(column).weight", "a weight is a number from 0 to 1,000,000")
            }
            self.weight = weight
        }
        state = try reader.text("state")
        try reader.finish()
    }

    var json: JSONValue {
        var members: [JSONMember] = [.init("status", .integer(Int64(status.code)))]
        if !fields.isEmpty {
            members.append(.init("fields", .object(fields.map { .init($0.name, .string($0.value)) })))
        }
        switch content {
        case .none: break
        case .text(let text): members.append(.init("text", .string(text)))
        case .json(let value): members.append(.init("json", value))
        case .template(let text): members.append(.init("template", .string(text)))
        case .bytes(let bytes): members.append(.init("base64", .string(Base64.encode(bytes))))
        case .file(let name): members.append(.init("file", .string(name)))
        }
        if weight != 1 { members.append(.init("weight", .number(weight))) }
        if let state { members.append(.init("state", .string(state))) }
        return .object(members)
    }
}

/// Reads the members of an object, and reports those that are left.
struct RuleReader {
    private var members: [JSONMember]
    /// The column of the object; empty for the rule itself.
    private let column: String

    init(members: [JSONMember], column: String = "") {
        self.members = members
        self.column = column
    }

    private func column(of name: String) -> String { column.isEmpty ? name : "\(column).\(name)" }

    private func error(_ name: String, _ problem: String) -> RuleError {
        RuleError(column: column(of: name), problem)
    }

    /// Removes and returns the first member with this name; nil if it is missing or null.
    mutating func take(_ name: String) -> JSONValue? {
        guard let index = members.firstIndex(where: { $0.name == name }) else { return nil }
        let value = members.remove(at: index).value
        return value == .null && name != "json" ? nil : value
    }

    /// Removes and returns the first member with this name, even if it is null; nil if it is missing.
    mutating func taking(_ name: String) -> JSONValue? {
        members.firstIndex { $0.name == name }.map { members.remove(at: $0).value }
    }

    mutating func text(_ name: String) throws(RuleError) -> String? {
        guard let value = take(name) else { return nil }
        guard let text = value.text else { throw error(name, "must be a string, not \(value.kind)") }
        return text
    }

    mutating func flag(_ name: String) throws(RuleError) -> Bool? {
        guard let value = take(name) else { return nil }
        guard case .bool(let flag) = value else {
            throw error(name, "must be true or false, not \(value.kind)")
        }
        return flag
    }

    mutating func integer(_ name: String, _ range: ClosedRange<Int64>) throws(RuleError) -> Int64? {
        guard let value = take(name) else { return nil }
        guard case .integer(let number) = value, range.contains(number) else {
            throw error(name, "must be an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func array(_ name: String) throws(RuleError) -> [JSONValue] {
        guard let value = take(name) else { return [] }
        guard let elements = value.elements else { throw error(name, "must be an array, not \(value.kind)") }
        return elements
    }

    mutating func choice<T: RawRepresentable & CaseIterable>(
        _ name: String
    ) throws(RuleError) -> T? where T.RawValue == String {
        guard let text = try text(name) else { return nil }
        guard let choice = T(rawValue: text) else {
            let all = T.allCases.map(\.rawValue).joined(separator: ", ")
            throw error(name, "'\(text)' is none of \(all)")
        }
        return choice
    }

    /// - Throws: ``RuleError`` if there are members that were not taken.
    func finish() throws(RuleError) {
        if let first = members.first { throw error(first.name, "unknown member") }
    }
}
