import DavitHTTP
import Testing

/// The content coding of a response, chosen from Accept-Encoding (RFC 9110 §12.5.3).
struct AcceptEncodingTests {
    static let choices: [(fields: [String], coding: ContentCoding)] = [
        // Without the field, any coding is allowed, but clients that support gzip list it. If the field is
        // empty, only identity is allowed.
        ([], .identity), ([""], .identity), ([" "], .identity), ([","], .identity),
        // The examples of the section.
        (["compress, gzip"], .gzip), (["*"], .identity), (["compress;q=0.5, gzip;q=1.0"], .gzip),
        (["gzip;q=1.0, identity; q=0.5, *;q=0"], .gzip),
        // Aliases, names in other cases, and several field lines.
        (["x-gzip"], .gzip), (["GZip"], .gzip), (["br", "deflate, gzip"], .gzip), (["gzipx"], .identity),
        // Weights.
        (["gzip;q=0"], .identity), (["gzip;q=0.000"], .identity), (["gzip;q=0.001"], .gzip),
        (["gzip;q=0.5, identity"], .identity), (["gzip;q=0.5, identity;q=0.5"], .gzip),
        (["gzip;q=0.5, *"], .identity), (["gzip ; q=0.5"], .gzip), (["gzip;Q=0"], .identity),
        (["x-gzip, gzip;q=0"], .identity), (["gzip;q=0, gzip"], .identity),
        // Codings that are not listed are used only if `*` is preferred to identity.
        (["identity;q=0, *"], .gzip), (["*, identity;q=0.5"], .gzip), (["*;q=0.5, identity"], .identity),
        (["*;q=0.5"], .identity), (["*, gzip;q=0"], .identity),
        // If the client refuses every coding, identity is used nevertheless.
        (["identity;q=0"], .identity), (["*;q=0"], .identity), (["gzip;q=0, identity;q=0"], .identity),
        (["br;q=1, identity;q=0"], .identity), (["gzip, identity;q=0"], .gzip), (["gzip, *;q=0"], .gzip),
        // deflate is ambiguous and never sent.
        (["deflate"], .identity), (["deflate, gzip;q=0.1"], .gzip),
        // Malformed elements are ignored.
        (["gzip;q=2"], .identity), (["gzip;q="], .identity), (["gzip;level=1"], .identity),
        (["gzip;"], .identity), (["gzip;q=.5"], .identity), (["gzip;q=1.0000"], .identity),
        (["gzip;q=1, identity;q=nan"], .gzip), (["gzip gzip"], .identity),
    ]

    @Test(arguments: choices)
    func acceptableCodingIsChosen(fields: [String], coding: ContentCoding) throws {
        let request = try request(fields: fields.map { "Accept-Encoding: \($0)" })
        #expect(AcceptEncoding(of: request).choice == coding)
    }

    /// Quality values (§12.4.2), in thousandths; nil if malformed.
    static let weights: [(text: String, thousandths: UInt16?)] = [
        ("0", 0), ("0.", 0), ("0.0", 0), ("0.5", 500), ("0.05", 50), ("0.125", 125), ("1", 1000),
        ("1.", 1000),
        ("1.000", 1000), ("", nil), (".", nil), (".5", nil), ("1.001", nil), ("2", nil), ("00", nil),
        ("0.1234", nil), ("0,5", nil), ("0.5 ", nil), ("-0", nil), ("0.a", nil),
    ]

    @Test(arguments: weights)
    func weightsAreParsed(text: String, thousandths: UInt16?) {
        #expect(Weight(parsing: Array(text.utf8).span)?.thousandths == thousandths)
    }
}

/// Content-Encoding of requests (RFC 9110 §8.4).
struct ContentCodingTests {
    static let codings: [(fields: [String], coding: ContentCoding?)] = [
        ([], .identity), ([""], .identity), (["identity"], .identity), (["gzip"], .gzip), (["X-GZIP"], .gzip),
        (["Deflate"], .deflate), (["identity, gzip"], .gzip), (["gzip", "identity"], .gzip),
        (["br"], nil), (["gzip, gzip"], nil), (["gzip", "deflate"], nil), (["gzip;q=1"], nil),
        (["identity, br"], nil),
    ]

    @Test(arguments: codings)
    func contentEncodingIsParsed(fields: [String], coding: ContentCoding?) throws {
        let request = try request(fields: fields.map { "Content-Encoding: \($0)" })
        if let coding {
            #expect(try request.contentCoding() == coding)
        } else {
            #expect(throws: ContentCoding.Unsupported.self) { try request.contentCoding() }
        }
    }
}

/// Adding a name to the field Vary (RFC 9110 §12.5.5).
struct VaryTests {
    static let merged: [(before: [String], after: String)] = [
        ([], "Accept-Encoding"), ([""], "Accept-Encoding"), (["Origin"], "Origin, Accept-Encoding"),
        (["Origin", "Accept, X-Own"], "Origin, Accept, X-Own, Accept-Encoding"),
    ]

    @Test(arguments: merged)
    func namesAreMergedIntoOneField(before: [String], after: String) {
        var fields = HTTPFields()
        for value in before { fields.append(.vary, value) }
        fields.append(.etag, "\"a\"")
        for _ in 0..<2 {
            fields.vary(on: .acceptEncoding)
            var values: [String] = []
            fields.forEachValue(of: .vary) { values.append(text([UInt8](copying: $0))) }
            #expect(values == [after])
        }
        #expect(fields.first(.etag) == "\"a\"")
    }

    @Test(arguments: ["*", "accept-encoding", "Origin, Accept-Encoding", "Origin, *"])
    func coveringValueIsUnchanged(value: String) {
        var fields = HTTPFields()
        fields.append(.vary, value)
        fields.vary(on: .acceptEncoding)
        #expect(text(fields.encoded) == "Vary: \(value)\r\n")
    }
}

struct CompressibleTypeTests {
    static let types: [(type: String, isCompressible: Bool)] = [
        ("text/html; charset=utf-8", true), ("TEXT/plain", true), ("application/xml;charset=utf-8", true),
        ("application/json", true), ("application/problem+json", true), ("image/svg+xml ; a=b", true),
        ("text/event-stream", true), ("application/zip", false), ("image/png", false),
        ("application/octet-stream", false), ("", false), ("+xml", false), ("application/jsonx", false),
        ("video/mp4; codecs=text/html", false),
    ]

    @Test(arguments: types)
    func compressibleTypesAreRecognized(type: String, isCompressible: Bool) {
        #expect(MediaType.isCompressible(Array(type.utf8).span) == isCompressible)
    }
}
