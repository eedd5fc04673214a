import DavitHTTP
import DavitSQLite
import DavitStore
import DavitTesting
import Testing

struct PropFindTests {
    /// Returns the value of `x:p` for each href in a multistatus; "none" if the property is missing.
    static func values(in body: [UInt8]) -> [String: String] {
        var values: [String: String] = [:]
        for response in pieces(of: String(decoding: body, as: UTF8.self), at: "<D:response>").dropFirst() {
            let href = pieces(of: pieces(of: response, at: "<D:href>")[1], at: "</D:href>")[0]
            let parts = pieces(of: response, at: "</x:p>")
            values[href] = parts.count == 2 ? pieces(of: parts[0], at: ">").last : "none"
        }
        return values
    }

    static func pieces(of text: String, at separator: String) -> [String] {
        text.split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }

    static let stores: [@Sendable (TemporaryFolder) throws -> any StateStore] = [
        { _ in MemoryStateStore() }, { try SQLiteStateStore(folder: $0.path + "/state") },
    ]

    /// Properties are read for several members at a time. Each member gets its own, at any position, even if
    /// members of subcollections are listed in between.
    @Test(arguments: stores.indices, ["1", "infinity"])
    func everyMemberHasItsOwnDeadProperties(store: Int, depth: String) async throws {
        let other = try TemporaryFolder()
        let share = try TestShare(state: Self.stores[store](other))
        var expected: [String: String] = ["/f/": "none"]
        #expect(
            share.shell("mkdir f; for i in $(seq 150); do echo > f/$i; mkdir f/d$i; echo > f/d$i/in; done")
                == 0)
        for number in 1...150 {
            for (name, isDeep) in [
                ("/f/\(number)", false), ("/f/d\(number)/", false), ("/f/d\(number)/in", true),
            ] {
                let isListed = !isDeep || depth == "infinity"
                if isListed { expected[name] = "none" }
                guard number % 3 != 0 else { continue }
                let set = try await share.client.send("PROPPATCH", name, text: setProperty("p", name))
                #expect(set.status == 207)
                if isListed { expected[name] = name }
            }
        }
        let answer = try await share.client.send(
            "PROPFIND", "/f/", [("Depth", depth)], text: askProperty("p"))
        #expect(answer.status == 207)
        #expect(Self.values(in: answer.body) == expected)
        // The response to allprop contains the properties, too.
        let all = try await share.client.send("PROPFIND", "/f/", [("Depth", depth)])
        #expect(Self.values(in: all.body) == expected)
    }

    /// Properties can be requested in any order, mixed with undefined names.
    @Test(arguments: [
        ["a", "b", "c"], ["c", "b", "a"], ["b", "x", "a", "y", "c"], ["c", "a"], ["x", "b"],
    ])
    func storedPropertiesAreFoundInAnyOrder(asked: [String]) async throws {
        let (share, names) = (try TestShare(), ["b", "c", "a"])
        #expect(share.shell("echo > file") == 0)
        for name in names {
            _ = try await share.client.send("PROPPATCH", "/file", text: setProperty(name, "value of \(name)"))
        }
        let elements = asked.map { "<N:\($0)/>" }.joined()
        let body = #"<D:propfind xmlns:D="DAV:" xmlns:N="urn:x"><D:prop>\#(elements)</D:prop></D:propfind>"#
        let answer = try await share.client.send("PROPFIND", "/file", [("Depth", "0")], text: body)
        let text = String(decoding: answer.body, as: UTF8.self)
        for name in asked {
            #expect(text.contains("value of \(name)<") == names.contains(name))
        }
    }

    /// The properties are found even if no resource in the folder of the link has any.
    @Test func linkHasThePropertiesOfItsTarget() async throws {
        let share = try TestShare()
        #expect(share.shell("mkdir f g; echo > f/a; echo > g/b; ln -s ../f/a g/link") == 0)
        _ = try await share.client.send("PROPPATCH", "/f/a", text: setProperty("p", "v"))
        let answer = try await share.client.send("PROPFIND", "/g/", [("Depth", "1")], text: askProperty("p"))
        #expect(Self.values(in: answer.body) == ["/g/": "none", "/g/b": "none", "/g/link": "v"])
    }

    /// Finder and Explorer request dozens of names that do not exist.
    @Test func missingNamesAreAnsweredInline() async throws {
        let share = try TestShare(TemporaryFolder(in: "/dev/shm"))
        for number in 0..<50 {
            let response = try await share.client.send("PROPFIND", "/._\(number)", [("Depth", "0")])
            #expect(response.status == 404)
        }
        #expect(share.hopCount == 0)
    }

    /// Sends more different bodies than the cache holds; each must get its own response.
    @Test func cachedPlansMatchTheirBodies() async throws {
        let share = try TestShare()
        for round in 0..<3 {
            for number in 0..<40 {
                let name = "p\((number * (round + 1)) % 40)"
                let answer = try await share.client.send(
                    "PROPFIND", "/", [("Depth", "0")], text: askProperty(name))
                #expect(answer.status == 207)
                #expect(
                    String(decoding: answer.body, as: UTF8.self).contains("<N:\(name) xmlns:N=\"urn:x\"/>"))
                let broken = try await share.client.send("PROPFIND", "/", [("Depth", "0")], text: "<\(name)")
                #expect(broken.status == 400)
            }
            #expect(try await share.client.send("PROPFIND", "/", [("Depth", "0")], text: "").status == 207)
        }
    }

    /// A response of many pieces is one document that contains every member once.
    @Test func manyPiecesFormOneDocument() async throws {
        let share = try TestShare()
        #expect(
            share.shell(
                "mkdir f; cd f; for i in $(seq 3000); do echo > \"a <name> & of some length $i\"; done") == 0)
        let answer = try await share.client.send("PROPFIND", "/f", [("Depth", "1")])
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(text.hasSuffix("</D:response></D:multistatus>"))
        #expect(text.utf8.count > 1 << 20)
        #expect(Self.values(in: answer.body).count == 3001)
        #expect(Self.pieces(of: text, at: "<D:response>").count == 3002)
        #expect(Self.pieces(of: text, at: "<D:displayname>a &lt;name&gt; &amp; of").count == 3001)
    }
}
