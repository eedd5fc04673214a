import DavitHTTP
import Testing

/// Parameters of challenges and credentials (RFC 9110 §11.2).
struct AuthParametersTests {
    static func parse(_ text: String) -> [String]? {
        AuthParameters(parsing: Array(text.utf8).span, from: 0)?.all.map {
            "\($0.name)=\(String(decoding: $0.value, as: UTF8.self))"
        }
    }

    static let wellFormed: [(text: String, parameters: [String])] = [
        ("", []), (" ", []), (",", []), (" , ,", []), ("a=b", ["a=b"]), ("A=B", ["a=B"]), ("a = b", ["a=b"]),
        ("a\t=\t\"b\"", ["a=b"]), ("a=b,c=d", ["a=b", "c=d"]), ("a=b , c=\"d\" ,", ["a=b", "c=d"]),
        (",a=b,,c=d", ["a=b", "c=d"]), ("a=\"\"", ["a="]), (#"a="b,c=d""#, ["a=b,c=d"]),
        (#"a="b\"c\\d\e""#, [#"a=b"c\de"#]), ("a*=UTF-8''x", ["a*=UTF-8''x"]), ("a=\"ä\"", ["a=ä"]),
    ]

    @Test(arguments: wellFormed)
    func wellFormedParametersAreParsed(text: String, parameters: [String]) {
        #expect(Self.parse(text) == parameters)
    }

    @Test(arguments: [
        "a", "a=", "=b", "a=b c", "a=b c=d", "a=b;c=d", "a=\"b", "a=\"b\\", "a=\"b\"c", "a=b=c", "a=ä",
        "a==b",
        "a=b,a=c", "a=b,A=c", "abc=", "a=@", "a/b=c",
    ])
    func malformedParametersAreRefused(text: String) { #expect(Self.parse(text) == nil) }

    @Test func parametersAreLimited() {
        let parameters = (0...AuthParameters.limit).map { "p\($0)=x" }
        #expect(Self.parse(parameters.dropLast().joined(separator: ","))?.count == AuthParameters.limit)
        #expect(Self.parse(parameters.joined(separator: ",")) == nil)
    }

    /// Truncated text yields the remaining parameters or nothing, but never other values.
    @Test func truncatedTextYieldsNoOtherValues() {
        let text = #"username="a\"b", nc=00000001 , qop = auth,,opaque="""#
        let whole = Self.parse(text) ?? []
        #expect(whole.count == 4)
        for length in 0..<text.utf8.count {
            let cut = Self.parse(String(decoding: Array(text.utf8)[..<length], as: UTF8.self)) ?? []
            for (index, parameter) in cut.enumerated() where index < cut.count - 1 {
                #expect(parameter == whole[index])
            }
            if let last = cut.last { #expect(whole[cut.count - 1].hasPrefix(last)) }
        }
    }
}
