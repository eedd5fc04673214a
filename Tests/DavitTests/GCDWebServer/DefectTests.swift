import Davit
import DavitTesting
import Testing

/// Defects of GCDWebServer that davit does not have; numbered as in `docs/coming-from-gcdwebserver.md`.
struct DefectTests {
    @Test("X02 an existing destination remains until it is atomically replaced") func x02() throws {
        try Served.share { client throws in
            #expect(try client.send("PUT /a", content: "old").status == 201)
            #expect(try client.send("PUT /b", content: "other").status == 201)
            // This request is rejected after the lookup, before any change.
            #expect(try client.send("PUT /a", ["If-Match: \"none\""], content: "new").status == 412)
            #expect(try client.send("GET /a").content == "old")
            #expect(try client.send("MOVE /b", ["Destination: /a", "Overwrite: F"]).status == 412)
            #expect(try client.send("GET /a").content == "old")
            #expect(try client.send("MOVE /none", ["Destination: /a"]).status == 404)
            #expect(try client.send("GET /a").content == "old")
        }
    }

    @Test(
        "X03 and X04 COPY and MOVE replace the destination unless Overwrite is F",
        arguments: ["COPY", "MOVE"])
    func x03x04(method: String) throws {
        try Served.share { client throws in
            #expect(try client.send("PUT /b", content: "old").status == 201)
            for fields in [[], ["Overwrite: T"]] {
                #expect(try client.send("PUT /a", content: "new").status / 100 == 2)
                #expect(try client.send("\(method) /a", fields + ["Destination: /b"]).status == 204)
                #expect(try client.send("GET /b").content == "new")
            }
        }
    }

    @Test("X05 a part of a file does not replace the file") func x05() throws {
        try Served.share { client throws in
            #expect(try client.send("PUT /a", content: "whole").status == 201)
            #expect(try client.send("PUT /a", ["Content-Range: bytes 0-1/5"], content: "no").status == 204)
            #expect(try client.send("GET /a").content == "noole")
            #expect(try client.send("PUT /a", ["Content-Range: bytes 0-1/4"], content: "no").status == 400)
            #expect(try client.send("GET /a").content == "noole")
        }
    }

    @Test("X06 PROPFIND without Depth applies to the entire tree") func x06() throws {
        try Served.share { client throws in
            #expect(try client.send("MKCOL /a").status == 201)
            #expect(try client.send("PUT /a/b", content: "x").status == 201)
            for fields in [[], ["Depth: infinity"]] {
                let answer = try client.send("PROPFIND /", fields)
                #expect(answer.status == 207 && answer.content.contains("/a/b</D:href>"))
            }
        }
    }

    @Test("X07 a lock has a token, is enforced, and has its owner in well-formed XML") func x07() throws {
        try Served.share { client throws in
            let body = """
                <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype>\
                <owner>A &amp; B</owner></lockinfo>
                """
            let answer = try client.send("LOCK /a", ["Timeout: Second-60"], content: body)
            #expect(answer.status == 201)
            let token = try #require(answer["Lock-Token"])
            #expect(token.hasPrefix("<urn:uuid:") || token.hasPrefix("<opaquelocktoken:"))
            #expect(answer.content.contains("A &amp; B") && answer.content.contains("<D:href>/a</D:href>"))
            #expect(try client.send("PUT /a", content: "x").status == 423)
            #expect(try client.send("PUT /a", ["If: (\(token))"], content: "x").status == 204)
            #expect(try client.send("UNLOCK /a", ["Lock-Token: <urn:uuid:none>"]).status == 409)
            #expect(try client.send("UNLOCK /a", ["Lock-Token: \(token)"]).status == 204)
            #expect(try client.send("PUT /a", content: "y").status == 204)
        }
    }

    @Test("X08 tags are quoted and can be in lists, and unsatisfiable ranges get 416") func x08() throws {
        try Served.share { client throws in
            #expect(try client.send("PUT /a", content: "12345").status == 201)
            let tag = try #require(try client.send("GET /a")["ETag"])
            #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
            for list in [tag, "\"x\", \(tag)", "W/\(tag)", "*"] {
                #expect(try client.send("GET /a", ["If-None-Match: \(list)"]).status == 304)
            }
            #expect(try client.send("GET /a", ["If-None-Match: \"x\""]).status == 200)
            let part = try client.send("GET /a", ["Range: bytes=1-2"])
            #expect(part.status == 206 && part.content == "23")
            let none = try client.send("GET /a", ["Range: bytes=9-"])
            #expect(none.status == 416 && none["Content-Range"] == "bytes */5")
        }
    }

    @Test("X12 the file name of a form has no path") func x12() throws {
        try Served.run { routes in
            routes.post("/", body: .multipart()) { _, form in .text(form.file("f")?.fileName ?? "-") }
        } asking: { client throws in
            for name in ["../../etc/passwd", "/etc/passwd", "C:\\x\\passwd"] {
                let content = """
                    --b\r\nContent-Disposition: form-data; name="f"; filename="\(name)"\r\n\r\nx\r\n--b--\r\n
                    """
                let type = "Content-Type: multipart/form-data; boundary=b"
                #expect(try client.send("POST /", [type], content: content).content == "passwd")
            }
        }
    }

    @Test("X14 forms of other sites are refused, and listings escape names") func x14() throws {
        let folder = try TemporaryFolder()
        try folder.makeFile("<b>&.txt")
        var options = SiteOptions()
        options.listsFolders = true
        try Served.run { routes in
            routes.mount("/", StaticSite(folder.path, options: options))
            routes.post("/form", body: .form()) { _, _ in .text("taken") }
        } asking: { client throws in
            let type = "Content-Type: application/x-www-form-urlencoded"
            let other = "Origin: https://other.example"
            #expect(try client.send("POST /form", [type, other], content: "a=1").status == 403)
            #expect(try client.send("POST /form", [type], content: "a=1").status == 200)
            let list = try client.send("GET /").content
            #expect(list.contains("&lt;b>") || list.contains("&lt;b&gt;"))
            #expect(!list.contains("<b>&"))
        }
    }

    @Test("X16 requests for missing resources get 404") func x16() throws {
        try Served.share { client throws in
            for method in ["GET", "DELETE", "PROPFIND"] {
                #expect(try client.send("\(method) /none").status == 404)
            }
        }
    }

    @Test("X17 XML namespaces are respected, and malformed XML is refused") func x17() throws {
        try Served.share { client throws in
            let foreign = #"<x:propfind xmlns:x="urn:other"><x:allprop/></x:propfind>"#
            let broken = #"<D:propfind xmlns:D="DAV:"><D:allprop></D:propfind>"#
            let prefixed = #"<any:propfind xmlns:any="DAV:"><any:allprop/></any:propfind>"#
            #expect(try client.send("PROPFIND /", ["Depth: 0"], content: foreign).status / 100 == 4)
            #expect(try client.send("PROPFIND /", ["Depth: 0"], content: broken).status == 400)
            #expect(try client.send("PROPFIND /", ["Depth: 0"], content: prefixed).status == 207)
        }
    }

    @Test("X18 a share does not decode content codings") func x18() throws {
        try Served.share { client throws in
            let answer = try client.send("PUT /a", ["Content-Encoding: gzip"], content: "x")
            #expect(answer.status == 415 && answer["Accept-Encoding"] == "identity")
            #expect(try client.send("GET /a").status == 404)
        }
    }
}
