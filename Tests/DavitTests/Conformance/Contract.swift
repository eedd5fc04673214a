/// A requirement of clients, with its number in docs/clients.md, as requests to a complete server.
struct Contract: CustomStringConvertible, Sendable {
    let number: Int
    let exchange: WebDAVExchange

    init(_ number: Int, _ title: String, _ steps: [WebDAVExchange.Step]) {
        self.number = number
        exchange = WebDAVExchange("contract \(number)", title, steps)
    }

    var description: String { "\(number), \(exchange.title)" }
}

extension Contract {
    /// The step that creates `/a`, which most contracts begin with.
    static let text = [ask("PUT /a", [], "0123456789", 201)]

    static let messages: [Contract] = [
        Contract(
            4, "a length hint is not Content-Length",
            [
                ask("PUT /a", ["X-Expected-Entity-Length: 1"], "0123456789", 201),
                ask("GET /a", 200, ["Content-Length": "10"]),
            ]),
        Contract(
            5, "without a length, a request has no content",
            text + [
                ask("PROPFIND /", 207), ask("MKCOL /d", 201), ask("COPY /a", ["Destination: /b"], 201),
                ask("MOVE /b", ["Destination: /c"], 201), ask("LOCK /c", [], lockInfo(), 200),
                ask("LOCK /c", ["If: (<{1}>)"], 200), ask("DELETE /c", ["If: (<{1}>)"], 204),
            ]),
        Contract(6, "empty fields", text + [ask("GET /a", ["Keep-Alive:", "TE: trailers"], 200)]),
        Contract(
            7, "field names are case-insensitive",
            text + [
                ask("LOCK /a", ["dEPTH: 0", "translate: f", "Content-type: text/xml"], lockInfo(), 200),
                ask("UNLOCK /a", ["Lock-token:   <{1}>  "], 204),
            ]),
        Contract(
            8, "fields that do not apply to the method are ignored",
            [
                ask("PUT /a", ["Overwrite: F", "Depth: 7", "Destination: nowhere"], "x", 201),
                ask("PUT /a", ["Overwrite: T"], "x", 204), ask("GET /a", ["Depth: 0"], 200),
                ask("PROPFIND /a", ["Depth: 0", "Apply-To-Redirect-Ref: T"], 207),
                ask("PROPPATCH /a", ["Depth: 1"], update(set("<x:p>1</x:p>")), 207),
            ]),
        Contract(
            9, "every response has Date",
            [
                ask("MKCOL /d", 201, ["Date": "*"]), ask("PUT /a", [], "x", 201, ["Date": "*"]),
                ask("MOVE /a", ["Destination: /b"], 201, ["Date": "*"]), ask("DELETE /b", 204, ["Date": "*"]),
                ask("GET /b", 404, ["Date": "*"]),
            ]),
        Contract(
            12, "client errors are not server errors",
            text + [
                ask("GET /a%00", 400), ask("PROPFIND /a", [], "<x", 400), ask("BREW /a", 501),
                ask("LOCK /a", [], "<x/>", 422), ask("MOVE /a", ["Destination: ::"], 400),
            ]),
        Contract(13, "Server", [ask("OPTIONS /", 200, ["Server": "davit"])]),
    ]

    static let discovery: [Contract] = [
        Contract(
            14, "OPTIONS of a folder without a trailing slash",
            [ask("MKCOL /d", 201), ask("OPTIONS /d", 200, ["Location": nil])]),
        Contract(
            15, "compliance classes",
            [
                ask(
                    "OPTIONS /", 200,
                    [
                        "DAV":
                            "1, 2, 3, extended-mkcol, sabredav-partialupdate, <http://apache.org/dav/propset/fs/1>"
                    ])
            ]),
        Contract(
            16, "MS-Author-Via",
            text + [
                ask("OPTIONS /", 200, ["MS-Author-Via": "DAV"]),
                ask("OPTIONS /a", 200, ["MS-Author-Via": "DAV"]),
                ask("OPTIONS /none", 200, ["MS-Author-Via": "DAV"]),
            ]),
        Contract(
            17, "Allow",
            text + [
                ask(
                    "OPTIONS /a", 200,
                    [
                        "Allow":
                            "OPTIONS, GET, HEAD, PUT, PATCH, DELETE, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, SEARCH, LOCK, UNLOCK"
                    ]),
                ask(
                    "OPTIONS /", 200,
                    [
                        "Allow":
                            "OPTIONS, GET, HEAD, DELETE, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, SEARCH, LOCK, UNLOCK"
                    ]),
            ]),
        Contract(18, "OPTIONS of an unmapped name", [ask("OPTIONS /absent.odt", 200, ["DAV": "*"])]),
        Contract(19, "OPTIONS of / and *", [ask("OPTIONS /", 200), ask("OPTIONS *", 204)]),
        Contract(
            20, "index.html has no effect",
            [
                ask("MKCOL /d", 201), ask("PUT /d/index.html", [], "x", 201),
                ask("OPTIONS /d", 200, ["DAV": "*"]),
                ask("PROPFIND /d", ["Depth: 1"], 207, holds: ["/d/index.html<"]),
                ask("MOVE /d", ["Destination: /e"], 201),
            ]),
        Contract(
            21, "no SharePoint fields",
            [ask("OPTIONS /", 200, ["X-MSDAVEXT": nil, "MicrosoftSharePointTeamServices": nil])]),
        Contract(
            22, "files announce the property set of the executable property",
            text + [
                ask(
                    "OPTIONS /a", 200,
                    [
                        "DAV":
                            "1, 2, 3, extended-mkcol, sabredav-partialupdate, <http://apache.org/dav/propset/fs/1>"
                    ])
            ]),
    ]

    private static let anna = "Authorization: Basic YW5uYTpzZWNyZXQ="

    /// Requirements on a server with the accounts `anna` and `jörg`.
    static let accounts: [Contract] = [
        Contract(
            23, "a 401 for OPTIONS has DAV and MS-Author-Via",
            [ask("OPTIONS /", 401, ["DAV": "*", "MS-Author-Via": "DAV"])]),
        Contract(
            25, "every method requires credentials, including reads",
            [
                "GET", "HEAD", "PROPFIND", "PUT", "DELETE", "MKCOL", "COPY", "MOVE", "PROPPATCH", "LOCK",
                "UNLOCK",
            ].map {
                ask("\($0) /a", 401, ["WWW-Authenticate": "*"])
            }),
        Contract(
            26, "a request with wrong credentials gets 401",
            [ask("PROPFIND /", ["Authorization: Basic YW5uYTp3cm9uZw=="], 401, ["WWW-Authenticate": "*"])]),
        Contract(28, "Basic credentials without a challenge", [ask("PROPFIND /", [anna, "Depth: 0"], 207)]),
        Contract(
            29, "a PUT without credentials creates nothing",
            [ask("PUT /a", ["Content-Length: 0"], 401), ask("GET /a", [anna], 404)]),
        Contract(
            31, "a malformed Authorization gets 401",
            [ask("GET /", ["Authorization: Bearer"], 401), ask("GET /", ["Authorization:"], 401)]),
        Contract(
            32, "UTF-8 in names and passwords",
            [ask("PROPFIND /", ["Authorization: Basic asO2cmc6cMOkc3N3b3Jk", "Depth: 0"], 207)]),
    ]
}
