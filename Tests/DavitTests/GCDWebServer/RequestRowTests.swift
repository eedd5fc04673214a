import Davit
import DavitTesting
import Testing

/// Requests of GCDWebServer, against a server on a real socket.
struct RequestRowTests {
    @Test("W048 the properties of a request") func w048() throws {
        try Served.run { routes in
            routes.on(where: { $0.method == .post }, body: .bytes()) { request, bytes in
                let path = try request.target.resourcePath().path
                let lines: [String] = [
                    request.method.rawValue, String(decoding: path.bytes, as: UTF8.self),
                    request.query["q"] ?? "-", request.contentType?.essence ?? "-",
                    request.body.declaredLength.map(String.init) ?? "-", "\(bytes.count)",
                    request.fields["x-own"] ?? "-", request.fields[.range] ?? "-",
                    request.fields[.ifNoneMatch] ?? "-", "\(AcceptEncoding(of: request).choice)",
                    request.peerAddress,
                ]
                return .text(lines.joined(separator: "|"))
            }
        } asking: { client throws in
            let answer = try client.send(
                "POST /a%20b/c?q=1%262&q=3",
                [
                    "Content-Type: Text/Plain; charset=utf-8", "X-Own: yes", "Range: bytes=1-",
                    "If-None-Match: \"v\"",
                    "Accept-Encoding: gzip",
                ], content: "12345")
            let expected = #"POST|a b/c|1&2|text/plain|5|5|yes|bytes=1-|"v"|gzip|127.0.0.1"#
            // The client accepts gzip, but the response is too short to be compressed.
            #expect(answer.content == expected)
        }
    }

    @Test("W049 a handler that reads content in pieces") func w049() throws {
        try Served.run { routes in
            routes.put("/count", body: .stream) { _, chunks in
                var (pieces, bytes) = (0, 0)
                for try await piece in chunks {
                    pieces += 1
                    bytes += piece.count
                }
                return .text("\(pieces > 1) \(bytes)")
            }
        } asking: { client throws in
            let content = String(repeating: "x", count: 1 << 20)
            #expect(try client.send("PUT /count", content: content).content == "true \(1 << 20)")
        }
    }

    @Test("W051 chunked content; extensions and trailers are ignored") func w051() throws {
        try Served.run { routes in
            routes.post("/", body: .text()) { request, text in
                .text(text + (request.fields["x-later"] ?? ""))
            }
        } asking: { client throws in
            // The client adds an empty line after its last field, which ends the trailer section here.
            let chunked = "Transfer-Encoding: chunked\r\n\r\n5;a=\"b\"\r\nhello\r\n1\r\n!\r\n0\r\nX-Later: no"
            #expect(try client.send("POST /", [chunked]).content == "hello!")
            let broken = "Transfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0"
            #expect(try client.send("POST /", [broken]).status == 400)
        }
    }

    @Test("W052 any other expectation gets 417") func w052() throws {
        try Served.run { routes in
            routes.post("/", body: .text()) { _, text in .text(text) }
        } asking: { client throws in
            let fields = ["Expect: 100-continue"]
            let answer = try client.send("POST /", fields, content: "x")
            #expect(answer.text.hasSuffix("\r\n\r\nx"))
            #expect(try client.send("POST /", ["Expect: 200-ok"], content: "x").status == 417)
        }
    }

    @Test("W053 text in its charset") func w053() throws {
        try Served.run { routes in
            routes.post("/", body: .text()) { _, text in .text("\(text.unicodeScalars.count) \(text)") }
        } asking: { client throws in
            #expect(try client.send("POST /", content: "é").content == "1 é")
            let latin = ["Content-Type: text/plain; charset=iso-8859-1"]
            #expect(try client.send("POST /", latin, content: "é").content == "2 Ã©")
            let other = ["Content-Type: text/plain; charset=klingon"]
            #expect(try client.send("POST /", other, content: "x").status == 415)
        }
    }

    @Test("W056 URL-encoded forms, in their charset") func w056() throws {
        try Served.run { routes in
            routes.post("/", body: .form()) { _, form in
                .text((form["name"] ?? "-") + "|" + form.all("tag").joined(separator: ","))
            }
        } asking: { client throws in
            let type = "Content-Type: application/x-www-form-urlencoded"
            let answer = try client.send("POST /", [type], content: "name=Zo%C3%AB+M&tag=1&tag=2%262")
            #expect(answer.content == "Zoë M|1,2&2")
            let latin = [type + "; charset=iso-8859-1"]
            #expect(try client.send("POST /", latin, content: "name=Zo%EB").content == "Zoë|")
            #expect(try client.send("POST /", [type], content: "name=%ZZ").status == 400)
        }
    }
}
