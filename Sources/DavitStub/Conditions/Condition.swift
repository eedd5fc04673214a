internal import DavitHTTP
struct ConditionProblem { var subject: String; var problem: String; var value: String? }
struct Condition: Sendable {
    var json: JSONValue
    var needsContent: Bool { false }
    var needsSHA256: Bool { false }
    var needsDigests: Bool { false }
    init(_ json: JSONValue, column: String, folder: String) throws(RuleError) { self.json = json }
    func problem(in request: ReceivedRequest) -> ConditionProblem? { nil }
    func value(in request: ReceivedRequest) -> String? { nil }
}
