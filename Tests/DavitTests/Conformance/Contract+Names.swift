extension Contract {
    static let paths: [Contract] = [
        Contract(
            34, "hrefs are paths in ASCII",
            [
                ask("MKCOL /%C3%A9", 201),
                ask(
                    "PROPFIND /", ["Depth: 1"], 207, holds: ["<D:href>/%C3%A9/</D:href>"],
                    lacks: ["<D:href>http"]),
            ]),
        Contract(
            35, "the parent path of an href is as requested",
            [
                ask("MKCOL /Cafe%CC%81&", 201), ask("PUT /Cafe%CC%81&/a", [], "x", 201),
                ask(
                    "PROPFIND /Cafe%CC%81&/", ["Depth: 1"], 207,
                    holds: ["<D:href>/Cafe%CC%81%26/</D:href>", "<D:href>/Cafe%CC%81%26/a</D:href>"]),
                ask(
                    "PROPFIND /C%61fe%cc%81%26/", ["Depth: 1"], 207,
                    holds: ["<D:href>/C%61fe%cc%81%26/a</D:href>"]),
            ]),
        Contract(
            36, "& is encoded as %26",
            [
                ask("PUT /a&b", [], "x", 201),
                ask("PROPFIND /", ["Depth: 1"], 207, holds: ["/a%26b<"], lacks: ["&amp;b</D:href>"]),
            ]),
        Contract(
            37, "a plus sign is not a space",
            [
                ask("PUT /a+b&c", [], "x", 201), ask("PROPFIND /a%2Bb%26c", ["Depth: 0"], 207),
                ask("GET /a%20b&c", 404),
            ]),
        Contract(
            38, "hex digits are case-insensitive",
            [ask("PUT /%C3%A9", [], "x", 201), ask("GET /%c3%a9", 200)]),
        Contract(
            39, "paths are decoded once",
            [
                ask("PUT /a%2541", [], "x", 201), ask("GET /aA", 404),
                ask("PROPFIND /", ["Depth: 1"], 207, holds: ["/a%2541<", "<D:displayname>a%41<"]),
            ]),
        Contract(
            40, "# ? % and ; can be in names",
            [
                ask("PUT /a%23%3F%25%3B", [], "x", 201),
                ask("PROPFIND /", ["Depth: 1"], 207, holds: ["/a%23%3F%25%3B<"]),
            ]),
        Contract(
            41, "paths cannot leave the share",
            [
                ask("GET /%2e%2e/a", 400), ask("GET /a%2Fb", 400), ask("GET /a%00", 400),
                ask("PUT /a%2F..%2Fb", [], "x", 400),
            ]),
        Contract(42, "a query is ignored", text + [ask("GET /a?service=x", 200, holds: ["0123456789"])]),
        Contract(
            43, "folders with and without a slash",
            [
                ask("MKCOL /d", 201), ask("PROPFIND /d", ["Depth: 0"], 207),
                ask("PROPFIND /d/", ["Depth: 0"], 207),
                ask("MOVE /d", ["Destination: /e"], 201), ask("MOVE /e/", ["Destination: /f"], 201),
                ask("DELETE /f", 204),
            ]),
        Contract(
            44, "hrefs of folders end in a slash",
            text + [
                ask("MKCOL /d", 201),
                ask("PROPFIND /", ["Depth: 1"], 207, holds: ["<D:href>/d/</D:href>", "<D:href>/a</D:href>"]),
            ]),
        Contract(
            45, "names match in composed and decomposed form, and are stored as sent",
            [
                ask("PUT /Cafe%CC%81", [], "x", 201), ask("GET /Caf%C3%A9", 200, holds: ["x"]),
                ask("PUT /Caf%C3%A9", [], "y", 204), ask("GET /Cafe%CC%81", 200, holds: ["y"]),
                ask("PROPFIND /", ["Depth: 1"], 207, holds: ["/Cafe%CC%81<"], lacks: ["/Caf%C3%A9<"]),
            ]),
        Contract(
            46, "Destination, with and without host and slash",
            [
                ask("MKCOL /d", 201), ask("MOVE /d/", ["Destination: /e"], 201),
                ask("MOVE /e", ["Destination: http://localhost/f/"], 201),
                ask("PUT /a", [], "x", 201), ask("MOVE /a", ["Destination: /b+c%2b"], 201),
                ask("GET /b%2Bc+", 200),
            ]),
        Contract(
            47, "Destination on another host",
            text + [ask("MOVE /a", ["Destination: http://elsewhere.example/a"], 502), ask("GET /a", 200)]),
    ]

    static let questions: [Contract] = [
        Contract(
            49, "an empty body means allprop",
            [
                ask("PROPFIND /", ["Content-Length: 0", "Depth: 0"], 207, holds: ["<D:getlastmodified>"]),
                ask("PROPFIND /", ["Depth: 0"], 207, holds: ["<D:getlastmodified>"]),
            ]),
        Contract(
            50, "no Depth",
            [ask("MKCOL /d", 201), ask("PROPFIND /d", 207, holds: ["\"DAV:\"><D:response><D:href>/d/<"])]),
        Contract(
            51, "Depth infinity",
            [
                ask("MKCOL /d", 201), ask("MKCOL /d/e", 201),
                ask("PROPFIND /", ["Depth: infinity"], 207, holds: ["/d/e/<"]),
            ]),
        Contract(
            52, "Depth is case-insensitive, and can exclude the collection",
            [
                ask("MKCOL /d", 201), ask("PUT /d/a", [], "x", 201),
                ask("PROPFIND /d", ["Depth: Infinity"], 207, holds: ["<D:href>/d/</D:href>", "/d/a<"]),
                ask(
                    "PROPFIND /d", ["Depth: 1,noroot"], 207, holds: ["<D:href>/d/a</D:href>"],
                    lacks: ["<D:href>/d/</D:href>"]),
            ]),
        Contract(
            53, "any type of content",
            [
                ask(
                    "PROPFIND /", ["Depth: 0", "Content-Type: application/x-www-form-urlencoded"],
                    find("<D:resourcetype/>"), 207)
            ]),
        Contract(
            54, "all forms of namespace declarations",
            [
                ask(
                    "PROPFIND /", ["Depth: 0"],
                    "<DAV:propfind xmlns:DAV=\"DAV:\"><DAV:prop><DAV:resourcetype/></DAV:prop></DAV:propfind>",
                    207, holds: ["<D:collection/>"]),
                ask(
                    "PROPFIND /", ["Depth: 0"],
                    "<propfind xmlns=\"DAV:\"><prop><a xmlns=\"\"/><resourcetype/></prop></propfind>", 207,
                    holds: ["<D:collection/>", "HTTP/1.1 404"]),
            ]),
        Contract(
            55, "propname",
            [
                ask(
                    "PROPFIND /", ["Depth: 0"], "<propfind xmlns=\"DAV:\"><propname/></propfind>", 207,
                    holds: ["<D:resourcetype/>"])
            ]),
        Contract(
            56, "a malformed If-None-Match is ignored",
            [
                ask("PROPFIND /", ["If-None-Match: JoplinIgnore-1", "Depth: 0"], 207),
                ask("PUT /a", ["If-None-Match: JoplinIgnore-2"], "x", 201),
                ask("PUT /a", ["If-None-Match: JoplinIgnore-3"], "x", 204),
                ask("DELETE /a", ["If-None-Match: JoplinIgnore-4"], 204),
                ask("MKCOL /d", ["If-None-Match: JoplinIgnore-5"], 201),
            ]),
        Contract(
            57, "Depth 1 on a file",
            text + [ask("PROPFIND /a", ["Depth: 1"], 207, holds: ["<D:href>/a</D:href>"])]),
        Contract(58, "requests for missing resources get 404", [ask("PROPFIND /none", ["Depth: 0"], 404)]),
        Contract(
            59, "invalid XML",
            [
                ask("PROPFIND /", [], "<x", 400),
                ask("PROPFIND /", [], "<!DOCTYPE a [<!ENTITY b SYSTEM \"/etc/passwd\">]>" + find("&b;"), 403),
                ask(
                    "PROPFIND /", [], "<!DOCTYPE a [<!ENTITY b \"b\"><!ENTITY c \"&b;&b;\">]>" + find("&c;"),
                    400),
            ]),
    ]
}
