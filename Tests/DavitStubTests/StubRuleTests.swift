import DavitHTTP
import DavitSQLite
import DavitTesting
import Testing

@testable import DavitStub

/// Which rule answers a request, and with which reply.
struct StubRuleTests {
    /// The path of a rule, the path of a request, and whether they match.
    @Test(arguments: [
        ("/a", "/a", true), ("/a", "/a/", false), ("/a/", "/a/", true), ("/a/", "/a", false),
        ("/", "/", true),
        ("/a", "/A", false), ("/a b", "/a%20b", true), ("/é", "/%C3%A9", true), ("/a", "/a?x=1", true),
        ("/{id}", "/7", true), ("/{id}", "/", false), ("/{id}", "/7/", false), ("/x/{id}/y", "/x/1/y", true),
        ("/x/{id}/y", "/x/1/2/y", false), ("/a/**", "/a", true), ("/a/**", "/a/b/c", true),
        ("/a/**", "/ab", false),
        ("/**", "/", true), ("/**", "/x/y", true), ("/a/*.txt", "/a/b.txt", true),
        ("/a/*.txt", "/a/b/c.txt", false),
        ("/a/**/z", "/a/b/c/z", true), ("/*/b", "/a/b", true), ("~^/v[0-9]+/u$", "/v12/u", true),
        ("~^/v[0-9]+/u$", "/v/u", false), ("~/u", "/x/u/y", true),
    ])
    func path(_ path: String, _ target: String, _ matches: Bool) async throws {
        let stub = try StubFixture(
            #"{"name":"r","path":\#(JSONValue.string(path)),"replies":[{"text":"ok"}]}"#)
        #expect(try await stub.send("GET", target).status == (matches ? 200 : 404))
    }

    /// Members of a rule that are refused, with the column and the problem.
    @Test(arguments: [
        (
            #"{"name":"r","path":"a","replies":[{}]}"#, "path",
            "a path begins with a slash, a regular expression with ~"
        ),
        (#"{"name":"r","path":"/a//b","replies":[{}]}"#, "path", "a segment is empty"),
        (#"{"name":"r","path":"/../b","replies":[{}]}"#, "path", "no request has a path with . or .."),
        (#"{"name":"r","path":"/{a}/{a}","replies":[{}]}"#, "path", "there are two parameters {a}"),
        (
            #"{"name":"r","path":"/{a}/*","replies":[{}]}"#, "path",
            "a path cannot have both wildcards and parameters"
        ),
        (
            #"{"name":"r","path":"/a{b}","replies":[{}]}"#, "path",
            "a parameter is a complete segment such as {id}, with letters, digits, -, _ and ~"
        ),
        (#"{"name":"r","path":"~(","replies":[{}]}"#, "path", "invalid regular expression"),
        (#"{"name":"r","path":"/"}"#, "replies", #"a rule needs a reply, or "collection": true"#),
        (#"{"name":"r","replies":[{}]}"#, "path", "is missing"),
        (
            #"{"path":"/","replies":[{}]}"#, "name",
            "a name has 1 to 100 characters, without control characters"
        ),
        (#"{"name":"r","path":"/","replies":[{}],"reply":1}"#, "reply", "unknown member"),
        (
            #"{"name":"r","path":"/","replies":[{"status":99}]}"#, "replies[0].status",
            "must be an integer from 200 to 599"
        ),
        (
            #"{"name":"r","path":"/","replies":[{"text":1}]}"#, "replies[0].text",
            "must be a string, not number"
        ),
        (
            #"{"name":"r","path":"/","replies":[{"text":"","json":1}]}"#, "replies[0]",
            "only one of text, json, template, base64, file is possible"
        ),
        (#"{"name":"r","path":"/","replies":[{"base64":"?"}]}"#, "replies[0].base64", "not Base64"),
        (
            #"{"name":"r","path":"/","replies":[{},{"template":"{{x}}"}]}"#, "replies[1].template",
            "unknown placeholder {{x}}"
        ),
        (
            #"{"name":"r","path":"/","replies":[{"template":"{{now"}]}"#, "replies[0].template",
            "a placeholder is not closed: {{now"
        ),
        (
            #"{"name":"r","path":"/","replies":[{"fields":{"A B":"c"}}]}"#, "replies[0].fields.A B",
            "not a field name and a value of one line"
        ),
        (
            #"{"name":"r","path":"/","replies":[{"fields":{"Content-Length":"1"}}]}"#,
            "replies[0].fields.Content-Length",
            "the server writes this field; for a wrong length, use the fault length-error"
        ),
        (
            #"{"name":"r","path":"/","replies":[{"file":"../x"}]}"#, "replies[0].file",
            "a file is named relative to the folder of the database"
        ),
        (
            #"{"name":"r","path":"/","replies":[{"state":"x"}]}"#, "replies[0].state",
            "the rule has no scenario"
        ),
        (
            #"{"name":"r","path":"/","replies":[{"weight":0}],"choose":"random"}"#, "replies",
            "the weight of all replies is 0"
        ),
        (
            #"{"name":"r","path":"/","replies":[{}],"choose":"first"}"#, "choose",
            "'first' is none of cycle, sequence, random"
        ),
        (#"{"name":"r","path":"/","replies":[{}],"faults":"slow=1"}"#, "faults", nil),
        (
            #"{"name":"r","path":"/","replies":[{}],"methods":["A B"]}"#, "methods[0]",
            "a method is a token such as GET"
        ),
        (
            #"{"name":"r","path":"/","replies":[{}],"scenario":{"name":"s","from":"a","to":"a"}}"#,
            "scenario.to",
            "the state would never change"
        ),
        (
            #"{"name":"r","path":"/a/","collection":true}"#, "path",
            "the path of a collection has no wildcards and no slash at its end"
        ),
        (
            #"{"name":"r","path":"/a","collection":true,"replies":[{}]}"#, "replies",
            "a collection has no replies"
        ),
    ])
    func refusedRule(_ rule: String, _ column: String, _ problem: String?) async throws {
        let stub = try StubFixture()
        let (status, answer) = try await stub.api("POST", "rules", rule)
        #expect(status == 422)
        #expect(answer?["error"]?["column"]?.text == column)
        if let problem { #expect(answer?["error"]?["problem"]?.text == problem) }
        #expect(stub.state.rules.isEmpty)
    }

    /// A rule is the same after it has been stored and read.
    @Test func ruleIsRestored() throws {
        let folder = try TemporaryFolder()
        let text = #"""
            {"name":"r","enabled":false,"methods":["GET","PURGE"],"path":"/{id}","when":[{"query":"a","is":"b"}],
            "checks":[{"field":"X"}],"checkStatus":400,"replies":[{"status":201,"fields":{"A":"b","C":"d"},"text":"é\n"},
            {"status":200,"json":{"a":[1,2.5,null]}},{"status":200,"base64":"AP8=","weight":0.5,"state":"x"}],"choose":"random",
            "faults":"delay=1ms","scenario":{"name":"s","to":"x"},"session":"start","sessionSeconds":60}
            """#
        let json = try #require(JSONParser.parse(text))
        let rule = try StubRule(json: json)
        #expect(rule.json.description == json.description)
        do {
            let stub = try StubFixture(path: folder.path + "/a.sqlite")
            try stub.state.store(rule)
            try stub.add(#"{"name":"second","path":"/","collection":false,"replies":[{}]}"#)
            try stub.state.setFaults("* /** delay=1ms")
        }
        let stub = try StubFixture(path: folder.path + "/a.sqlite")
        #expect(stub.state.rules.map(\.rule.name) == ["second", "r"])
        #expect(stub.state.rules.last?.rule == rule)
        #expect(stub.state.ruleSet.faultText == "* /** delay=1ms")
    }

    @Test func newestRuleIsTriedFirst() async throws {
        let stub = try StubFixture(
            #"{"name":"all","path":"/**","replies":[{"text":"all"}]}"#,
            #"{"name":"one","path":"/one","methods":["GET"],"replies":[{"text":"one"}]}"#,
            #"{"name":"off","path":"/one","enabled":false,"replies":[{"text":"off"}]}"#)
        #expect(try await stub.text("GET", "/one") == "one")
        #expect(try await stub.text("PUT", "/one") == "all")
        // A replaced rule keeps its position.
        try stub.add(#"{"name":"all","path":"/**","replies":[{"text":"new"}]}"#)
        #expect(try await stub.text("GET", "/one") == "one")
        #expect(try await stub.text("GET", "/two") == "new")
    }

    /// A request that no rule matches is recorded with the reason for each rule with the same path.
    @Test func missesAreRecorded() async throws {
        let stub = try StubFixture(
            #"{"name":"get","path":"/a","methods":["GET"],"replies":[{}]}"#,
            #"{"name":"state","path":"/a","scenario":{"name":"s","from":"x"},"replies":[{}]}"#,
            #"{"name":"other","path":"/b","replies":[{}]}"#)
        #expect(try await stub.send("PUT", "/a", [], "x").status == 404)
        let entry = try #require(stub.state.log.requests().requests.first)
        #expect(
            entry.misses == [
                .init(rule: "state", reason: "scenario s is in state 'start', not 'x'"),
                .init(rule: "get", reason: "the method is not GET"),
            ])
        #expect(entry.rule == nil && entry.status == .notFound && entry.content == Array("x".utf8))
    }

    /// The order of replies by `choose`, for six requests.
    @Test(arguments: [("cycle", "abcabc"), ("sequence", "abcccc")])
    func replyOrder(_ choice: String, _ expected: String) async throws {
        let stub = try StubFixture(
            #"{"name":"r","path":"/","choose":"\#(choice)","replies":[{"text":"a"},{"text":"b"},{"text":"c"}]}"#
        )
        var found = ""
        for _ in 0..<6 { found += try await stub.text("GET", "/") }
        #expect(found == expected)
    }

    /// Random replies have the frequencies of their weights (3 sigma of 3,000 requests), and are repeated by the
    /// seed.
    @Test func randomReplies() async throws {
        func sequence(seed: UInt64) async throws -> String {
            let stub = try StubFixture(
                seed: seed,
                #"{"name":"r","path":"/","choose":"random","replies":[{"text":"a","weight":3},{"text":"b"},{"text":"c","weight":0}]}"#
            )
            var found = ""
            for _ in 0..<3000 { found += try await stub.text("GET", "/") }
            return found
        }
        let found = try await sequence(seed: 5)
        #expect((2179...2321).contains(found.count { $0 == "a" }))
        #expect(!found.contains("c"))
        #expect(try await sequence(seed: 5) == found)
        #expect(try await sequence(seed: 6) != found)
    }

    /// Values of placeholders for `POST /u/7?q=%22<` with the field X, in replies of a type.
    @Test(arguments: [
        ("text/plain", "{{method}} {{path}} {{path.id}}", "POST /u/7 7"),
        ("text/plain", "{{query.q}}|{{query.z}}", #""<|"#),
        ("application/json", "{{query.q}}", #"\"<"#),
        ("application/problem+json; charset=utf-8", "{{query.q}}", #"\"<"#),
        ("text/html", "{{query.q}}", "&quot;&lt;"), ("application/atom+xml", "{{query.q}}", "&quot;&lt;"),
        ("text/plain", "{{field.X}}{{field.Y}}", "x"),
        ("text/plain", "{{number}}{{counter c}}{{counter c}}{{counter d}}", "1121"),
        ("text/plain", "{{content}}", "hello"), ("text/plain", "a{{ method }}b", "aPOSTb"),
    ])
    func template(_ type: String, _ template: String, _ expected: String) async throws {
        let stub = try StubFixture(
            #"{"name":"r","path":"/u/{id}","replies":[{"fields":{"Content-Type":"\#(type)"},"template":"\#(template)"}]}"#
        )
        let response = try await stub.send("POST", "/u/7?q=%22%3C", [("X", "x")], "hello")
        #expect(response.text == expected)
        #expect(response["Content-Type"] == type)
    }

    /// Random values depend only on the seed.
    @Test func randomValues() async throws {
        let rule =
            #"{"name":"r","path":"/","replies":[{"template":"{{random uuid}} {{random 1 3}} {{random -5 -5}}"}]}"#
        let (first, second) = (try StubFixture(seed: 3, rule), try StubFixture(seed: 3, rule))
        for _ in 0..<20 {
            let text = try await first.text("GET", "/")
            #expect(try await second.text("GET", "/") == text)
            #expect(
                text.wholeMatch(
                    of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12} [123] -5/) != nil
            )
        }
    }

    /// HEAD is answered by rules for GET.
    @Test func headMatchesGet() async throws {
        let stub = try StubFixture(#"{"name":"r","path":"/","methods":["GET"],"replies":[{"text":"x"}]}"#)
        #expect(try await stub.send("HEAD", "/").status == 200)
    }

    /// A reply from a file: its type, and a range of it. The file must exist when the rule is stored.
    @Test func fileReply() async throws {
        let folder = try TemporaryFolder()
        try SmallFiles.write("0123456789", to: folder.path + "/a.txt")
        let stub = try StubFixture(
            folder: folder.path, #"{"name":"r","path":"/","replies":[{"file":"a.txt","fields":{"X":"y"}}]}"#)
        let response = try await stub.send("GET", "/", [("Range", "bytes=2-4")])
        #expect(response.status == 206 && response.text == "234" && response["X"] == "y")
        #expect(response["Content-Type"]?.hasPrefix("text/plain") == true)
        #expect(throws: StubError.self) {
            try stub.add(#"{"name":"s","path":"/","replies":[{"file":"b.txt"}]}"#)
        }
    }

    @Test func scenarioChangesReplies() async throws {
        let stub = try StubFixture(
            #"{"name":"list","path":"/","scenario":{"name":"s"},"replies":[{"text":"empty","state":"start"},{"text":"full"}]}"#,
            #"{"name":"add","path":"/add","scenario":{"name":"s","from":"start","to":"full"},"replies":[{"status":201}]}"#
        )
        #expect(try await stub.text("GET", "/") == "empty")
        #expect(try await stub.send("POST", "/add").status == 201)
        #expect(try await stub.send("POST", "/add").status == 404)
        #expect(stub.state.scenarios == ["s": "full"])
        #expect(try await stub.text("GET", "/") == "full")
        try stub.state.reset(requests: false, states: true)
        #expect(try await stub.text("GET", "/") == "empty")
    }

    /// A session starts with a cookie, which also works as a bearer token, and ends.
    @Test func session() async throws {
        let stub = try StubFixture(
            #"{"name":"login","path":"/login","session":"start","sessionSeconds":60,"replies":[{"template":"{{session}}"}]}"#,
            #"{"name":"me","path":"/me","session":"required","replies":[{"template":"{{session}}"}]}"#,
            #"{"name":"logout","path":"/logout","session":"end","replies":[{"status":204}]}"#)
        #expect(try await stub.send("GET", "/me").status == 401)
        let login = try await stub.send("POST", "/login")
        let token = login.text
        #expect(token.count == 32)
        #expect(login["Set-Cookie"]?.hasPrefix("stub-session=\(token); ") == true)
        #expect(try await stub.send("GET", "/me", [("Cookie", "a=b; stub-session=\(token)")]).text == token)
        #expect(try await stub.send("GET", "/me", [("Authorization", "Bearer \(token)")]).text == token)
        #expect(try await stub.send("GET", "/me", [("Authorization", "Bearer x")]).status == 401)
        #expect(stub.state.sessions.map(\.rule) == ["login"])
        #expect(try await stub.send("GET", "/logout", [("Authorization", "Bearer \(token)")]).status == 204)
        #expect(try await stub.send("GET", "/me", [("Authorization", "Bearer \(token)")]).status == 401)
    }

    /// A collection of JSON objects, which lasts over a restart.
    @Test func collection() async throws {
        let folder = try TemporaryFolder()
        do {
            let stub = try StubFixture(path: folder.path + "/a.sqlite")
            try stub.add(#"{"name":"things","path":"/things","collection":true}"#)
            #expect(try await stub.text("GET", "/things") == "[]")
            let created = try await stub.send("POST", "/things", [], #"{"a":1}"#)
            #expect(created.status == 201 && created["Location"] == "/things/1")
            #expect(created.text == #"{"a":1,"id":1}"#)
            #expect(try await stub.send("POST", "/things", [], "[]").status == 400)
            #expect(try await stub.send("PUT", "/things", [], "{}").status == 405)
            #expect(try await stub.send("PUT", "/things/2", [], "{}").status == 404)
            #expect(try await stub.text("PUT", "/things/1", #"{"b":2,"id":9}"#) == #"{"b":2,"id":1}"#)
            #expect(try await stub.text("PATCH", "/things/1", #"{"b":null,"c":3}"#) == #"{"id":1,"c":3}"#)
            #expect(try await stub.send("POST", "/things", [], "{}").text == #"{"id":2}"#)
        }
        let stub = try StubFixture(path: folder.path + "/a.sqlite")
        #expect(try await stub.text("GET", "/things") == #"[{"id":1,"c":3},{"id":2}]"#)
        #expect(try await stub.send("DELETE", "/things/2").status == 204)
        #expect(try await stub.send("DELETE", "/things/2").status == 404)
        #expect(try await stub.send("GET", "/things/01").status == 404)
        #expect(try await stub.text("GET", "/things/1") == #"{"id":1,"c":3}"#)
    }

    /// Faults of a rule are injected, and depend on the seed.
    @Test func faultsOfRule() async throws {
        let stub = try StubFixture(
            #"{"name":"r","path":"/a","faults":"status=503 every=2","replies":[{"text":"ok"}]}"#,
            #"{"name":"s","path":"/b","replies":[{"text":"ok"}]}"#)
        var statuses: [UInt16] = []
        for _ in 0..<4 { statuses.append(try await stub.send("GET", "/a").status) }
        #expect(statuses == [200, 503, 200, 503])
        #expect(try await stub.send("GET", "/b").status == 200)
        // Requests that a fault answers are recorded too.
        try stub.state.setFaults("GET /b status=500")
        #expect(try await stub.send("GET", "/b").status == 500)
        #expect(stub.state.log.requests().requests.last?.status == .internalServerError)
        #expect(throws: StubError.faults(line: 2, problem: "x: a rule is: METHOD PATH NAME=VALUE...")) {
            try stub.state.setFaults("\nx")
        }
    }
}
