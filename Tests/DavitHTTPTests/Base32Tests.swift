import DavitHTTP
import Testing

struct Base32Tests {
    /// RFC 4648 §10, without padding.
    static let vectors: [(text: String, code: String)] = [
        ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"),
        ("foobar", "MZXW6YTBOI"),
    ]

    @Test(arguments: vectors)
    func textsAreThoseOfTheRFC(row: (text: String, code: String)) {
        #expect(Base32.encode(Array(row.text.utf8)) == row.code)
        #expect(Base32.decode(row.code) == Array(row.text.utf8))
        #expect(Base32.decode(row.code.lowercased()) == Array(row.text.utf8))
    }

    @Test func groupsAreIgnored() { #expect(Base32.decode("MZ XW-6ytb") == Array("fooba".utf8)) }

    @Test func malformedTextIsRefused() {
        for text in ["M", "MZX", "MZXW6Y", "MZ", "0Y", "1Y", "8Y", "M=", "MÄ", "MZXW6YTB=", "MZXW6\n"] {
            #expect(Base32.decode(text) == nil, "\(text)")
        }
    }
}
