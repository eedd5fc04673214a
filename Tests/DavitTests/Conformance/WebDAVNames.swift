extension WebDAVExchange {
    /// §5, §9.3 to §9.7, §10.1: names, collections and stored content.
    static let names: [WebDAVExchange] = [
        WebDAVExchange(
            "10.1, 18.1, 18.2, 18.3", "OPTIONS lists the compliance classes",
            [
                ask("MKCOL /d", 201), ask("PUT /a", [], "x", 201),
                ask(
                    "OPTIONS /", 200,
                    [
                        "DAV":
                            "1, 2, 3, extended-mkcol, sabredav-partialupdate, <http://apache.org/dav/propset/fs/1>",
                        "MS-Author-Via": "DAV",
                    ]),
                ask("OPTIONS /d", 200, ["DAV": "*", "Allow": "*", "Location": nil]),
                ask("OPTIONS /a", 200, ["DAV": "*", "Allow": "*"]),
                ask("OPTIONS /none", 200, ["DAV": "*", "Allow": "*"]),
            ]),
        WebDAVExchange(
            "5.1, 5.2, 9.3", "a collection lists its members, and requires a parent",
            [
                ask("MKCOL /d/", 201), ask("MKCOL /d/e", 201), ask("PUT /d/e/a", [], "x", 201),
                ask("PROPFIND /", ["Depth: 1"], 207, holds: ["/d/<"]),
                ask("PROPFIND /d/", ["Depth: 1"], 207, holds: ["/d/e/<"]),
                ask("MKCOL /no/d", 409), ask("PUT /no/a", [], "x", 409),
                ask("LOCK /no/a", [], lockInfo(), 409),
                ask("COPY /d", ["Destination: /no/d"], 409), ask("MOVE /d", ["Destination: /no/d"], 409),
                ask("PUT /d/e/a/b", [], "x", 409), ask("MKCOL /d/e/a/b", 409),
                ask("PROPFIND /no", ["Depth: 0"], 404),
            ]),
        WebDAVExchange(
            "5.2", "the same collection with and without a trailing slash, without a redirect",
            [
                ask("MKCOL /d", 201), ask("PUT /d/a", [], "x", 201),
                ask(
                    "PROPFIND /d", ["Depth: 1"], 207, ["Location": nil],
                    holds: ["<D:href>/d/</D:href>", "/d/a<"]),
                ask("PROPFIND /d/", ["Depth: 1"], 207, holds: ["<D:href>/d/</D:href>", "/d/a<"]),
                ask("PROPPATCH /d", [], update(set("<x:p>1</x:p>")), 207, holds: ["<D:href>/d/</D:href>"]),
                ask("PROPFIND /d/", ["Depth: 0"], find("<x:p/>"), 207, holds: [">1<"]),
                ask("HEAD /d", 200), ask("HEAD /d/", 200),
                ask("LOCK /d", ["Depth: 0"], lockInfo(), 200, holds: ["<D:lockroot><D:href>/d/</D:href>"]),
                ask("UNLOCK /d/", ["Lock-Token: <{1}>"], 204), ask("COPY /d/", ["Destination: /e"], 201),
                ask("MOVE /e", ["Destination: /f/"], 201), ask("DELETE /f", 204),
                // Only collections have a trailing slash.
                ask("GET /d/a/", 404), ask("PUT /d/a/", [], "y", 409), ask("DELETE /d/a/", 404),
            ]),
        WebDAVExchange(
            "9.3, 9.3.1", "MKCOL",
            [
                ask("MKCOL /d", 201, ["Content-Length": "*"]), ask("MKCOL /d", 405, ["Allow": "*"]),
                ask("PUT /a", [], "x", 201), ask("MKCOL /a", 405, ["Allow": "*"]), ask("MKCOL /", 405),
                ask("MKCOL /e", ["Content-Type: application/x-unknown"], "x", 415),
                ask("MKCOL /e", [], "<mkcol/>", 415), ask("MKCOL /e/f", 409),
                ask("PROPFIND /e", ["Depth: 0"], 404), ask("MKCOL /e", ["Content-Length: 0"], 201),
                // New collections are empty, and do not inherit properties of deleted ones.
                ask("PROPPATCH /e", [], update(set("<x:p>1</x:p>")), 207), ask("DELETE /e", 204),
                ask("MKCOL /e", 201), ask("PROPFIND /e", ["Depth: 1"], find("<x:p/>"), 207, lacks: [">1<"]),
            ]),
        WebDAVExchange(
            "9.4, 9.5", "GET, HEAD and POST of a collection",
            [
                ask("MKCOL /d", 201), ask("GET /d/", 200), ask("HEAD /d/", 200),
                ask("POST /d/", [], "x", 405, ["Allow": "*"]), ask("GET /none/", 404),
            ]),
        WebDAVExchange(
            "9.6, 9.6.1, 10.2", "DELETE removes the entire tree; Depth must be infinity",
            [
                ask("MKCOL /d", 201), ask("MKCOL /d/e", 201), ask("PUT /d/e/a", [], "x", 201),
                ask("PROPPATCH /d/e/a", [], update(set("<x:p>1</x:p>")), 207),
                ask("DELETE /d", ["Depth: 0"], 400), ask("DELETE /d", ["Depth: 1"], 400),
                ask("DELETE /d", ["Depth: much"], 400), ask("GET /d/e/a", 200),
                ask("DELETE /d", ["Depth: infinity"], 204), ask("GET /d/e/a", 404), ask("DELETE /d", 404),
                ask("MKCOL /d", 201), ask("MKCOL /d/e", 201), ask("PUT /d/e/a", [], "x", 201),
                ask("PROPFIND /d/e/a", ["Depth: 0"], find("<x:p/>"), 207, lacks: [">1<"]),
                ask("DELETE /d/e/a", ["Depth: 0"], 204), ask("DELETE /", 403),
            ]),
        WebDAVExchange(
            "9.7, 9.7.1, 9.7.2", "PUT keeps properties, and is refused on collections",
            [
                ask("PUT /a", [], "one", 201, ["ETag": "*"]),
                ask("PROPPATCH /a", [], update(set("<x:p>1</x:p>")), 207),
                ask("PUT /a", [], "two", 204, ["ETag": "*"]),
                ask("GET /a", 200, ["ETag": "{tag}"], holds: ["two"]),
                ask("PROPFIND /a", ["Depth: 0"], find("<x:p/>"), 207, holds: [">1<"]),
                ask("MKCOL /d", 201), ask("PUT /d", [], "x", 405, ["Allow": "*"]),
                ask("PUT /d/", [], "x", 405),
                ask("PUT /new/", [], "x", 409), ask("GET /new", 404),
            ]),
    ]

    /// RFC 4918 §9.8, §9.9, §10.2, §10.3, §10.6, §8.3.
    static let transfers: [WebDAVExchange] = [
        WebDAVExchange(
            "9.8.2, 9.8.5, 10.6", "COPY of content: new, replaced, forbidden",
            [
                ask("PUT /a", [], "A", 201), ask("PROPPATCH /a", [], update(set("<x:p>1</x:p>")), 207),
                ask("COPY /a", ["Destination: /b"], 201), ask("GET /b", 200, holds: ["A"]),
                ask("PROPFIND /b", ["Depth: 0"], find("<x:p/>"), 207, holds: [">1<"]),
                // The copy and its source are now separate resources.
                ask("PROPPATCH /b", [], update(set("<x:p>2</x:p>")), 207), ask("PUT /b", [], "B", 204),
                ask("PROPFIND /a", ["Depth: 0"], find("<x:p/>"), 207, holds: [">1<"]),
                ask("GET /a", 200, holds: ["A"]),
                ask("COPY /a", ["Destination: /b", "Overwrite: F"], 412), ask("GET /b", 200, holds: ["B"]),
                ask("COPY /a", ["Destination: /b", "Overwrite: T"], 204),
                ask("COPY /a", ["Destination: /b", "Overwrite: maybe"], 400),
                ask("COPY /a", ["Destination: /b"], 204),
                ask("PROPFIND /b", ["Depth: 0"], find("<x:p/>"), 207, holds: [">1<"]),
                ask("COPY /a", ["Destination: /c", "Overwrite: F"], 201),
                ask("COPY /none", ["Destination: /c"], 404),
                ask("COPY /a", ["Destination: /a"], 403),
                ask("COPY /a", ["Destination: /a", "Overwrite: F"], 403),
            ]),
        WebDAVExchange(
            "9.8.3, 9.8.4, 10.2", "COPY of a collection",
            [
                ask("MKCOL /d", 201), ask("PUT /d/a", [], "A", 201), ask("MKCOL /d/e", 201),
                ask("PUT /d/e/b", [], "B", 201),
                ask("PROPPATCH /d/e/b", [], update(set("<x:p>1</x:p>")), 207),
                ask("COPY /d", ["Destination: /i"], 201), ask("GET /i/e/b", 200, holds: ["B"]),
                ask("PROPFIND /i/e/b", ["Depth: 0"], find("<x:p/>"), 207, holds: [">1<"]),
                ask("COPY /d", ["Destination: /z", "Depth: 0"], 201), ask("GET /z/a", 404),
                ask("HEAD /z", 200),
                ask("COPY /d", ["Destination: /y", "Depth: 1"], 400),
                ask("COPY /d", ["Destination: /y", "Depth: deep"], 400), ask("HEAD /y", 404),
                // The destination is replaced, not merged.
                ask("PUT /z/old", [], "O", 201), ask("COPY /d/", ["Destination: /z/"], 204),
                ask("GET /z/old", 404),
                ask("GET /z/e/b", 200, holds: ["B"]), ask("COPY /d", ["Destination: /d/e/new"], 403),
                ask("COPY /d/e", ["Destination: /d"], 403),
                ask("COPY /d", ["Destination: /d/a", "Depth: 0"], 403),
                ask("COPY /d/a", ["Destination: /e", "Depth: 0"], 201),
                ask("COPY /d/a", ["Destination: /f", "Depth: infinity"], 201),
                // Content replaces a collection, and a collection replaces content.
                ask("COPY /d/a", ["Destination: /z"], 204), ask("GET /z", 200, holds: ["A"]),
                ask("COPY /d", ["Destination: /z"], 204), ask("GET /z/a", 200, holds: ["A"]),
            ]),
        WebDAVExchange(
            "9.9, 9.9.1, 9.9.3, 9.9.4", "MOVE keeps properties, and removes the source",
            [
                ask("PUT /a", [], "A", 201), ask("PROPPATCH /a", [], update(set("<x:p>1</x:p>")), 207),
                ask("MOVE /a", ["Destination: /b"], 201), ask("GET /a", 404),
                ask("GET /b", 200, holds: ["A"]),
                ask("PROPFIND /b", ["Depth: 0"], find("<x:p/>"), 207, holds: [">1<"]),
                ask("PUT /c", [], "C", 201),
                ask("MOVE /b", ["Destination: /c", "Overwrite: F"], 412), ask("GET /b", 200),
                ask("GET /c", 200, holds: ["C"]),
                ask("MOVE /b", ["Destination: /c"], 204), ask("GET /c", 200, holds: ["A"]),
                ask("PROPFIND /c", ["Depth: 0"], find("<x:p/>"), 207, holds: [">1<"]),
                ask("MOVE /c", ["Destination: /c"], 403),
                ask("MOVE /c", ["Destination: /c", "Overwrite: F"], 403),
                // A new resource with the old name does not have the properties of the moved one.
                ask("PUT /b", [], "x", 201),
                ask("PROPFIND /b", ["Depth: 0"], find("<x:p/>"), 207, holds: ["HTTP/1.1 404"]),
                ask("MOVE /none", ["Destination: /x"], 404), ask("MOVE /", ["Destination: /x"], 403),
            ]),
        WebDAVExchange(
            "9.9.2, 9.9.4, 10.2", "MOVE of a collection includes its members",
            [
                ask("MKCOL /d", 201), ask("MKCOL /d/e", 201), ask("PUT /d/e/b", [], "B", 201),
                ask("PROPPATCH /d/e/b", [], update(set("<x:p>1</x:p>")), 207),
                ask("MOVE /d", ["Destination: /m", "Depth: 0"], 400),
                ask("MOVE /d", ["Destination: /m", "Depth: 1"], 400),
                ask("MOVE /d", ["Destination: /d/e/f"], 403), ask("MOVE /d/e", ["Destination: /d"], 403),
                ask("MOVE /d", ["Destination: /m", "Depth: infinity"], 201), ask("HEAD /d", 404),
                ask("PROPFIND /m/e/b", ["Depth: 0"], find("<x:p/>"), 207, holds: [">1<"]),
                ask("MKCOL /t", 201), ask("PUT /t/old", [], "O", 201),
                ask("MOVE /m", ["Destination: /t"], 204),
                ask("GET /t/old", 404), ask("GET /t/e/b", 200, holds: ["B"]),
            ]),
        WebDAVExchange(
            "10.3, 8.3, 9.8.5, 9.9.4", "Destination",
            [
                ask("PUT /a", [], "A", 201), ask("MKCOL /d", 201), ask("COPY /a", 400), ask("MOVE /a", 400),
                ask("COPY /a", ["Destination:"], 400), ask("COPY /a", ["Destination: b"], 400),
                ask("COPY /a", ["Destination: //localhost/b"], 400),
                ask("COPY /a", ["Destination: /b c"], 400),
                ask("COPY /a", ["Destination: /b#c"], 400), ask("COPY /a", ["Destination: /b?c"], 400),
                ask("COPY /a", ["Destination: /%00"], 400), ask("COPY /a", ["Destination: /../b"], 400),
                ask("COPY /a", ["Destination: /b", "Destination: /c"], 400),
                ask("COPY /a", ["Destination: http://elsewhere.example/b"], 502),
                ask("MOVE /a", ["Destination: http://elsewhere.example/b"], 502),
                ask("COPY /a", ["Destination: http://user@elsewhere.example/b"], 502),
                ask("COPY /a", ["Destination: http://localhost@elsewhere.example/b"], 502),
                ask("COPY /a", ["Destination: http://user@/b"], 400),
                ask("COPY /a", ["Destination: http://localhost/b"], 201),
                ask("COPY /a", ["Destination: http://user:pass%40word@localhost/e"], 201),
                ask("GET /e", 200, holds: ["A"]),
                ask("COPY /a", ["Destination: HTTP://LOCALHOST:80/c%20d"], 201), ask("GET /c%20d", 200),
                ask("MOVE /a", ["Destination: /d/%C3%A4+b"], 201),
                ask("GET /d/%c3%a4%2Bb", 200, holds: ["A"]),
            ]),
        WebDAVExchange(
            "9.8.5, 9.9.4, 11.1", "a complete success is never a 207",
            [
                ask("MKCOL /d", 201), ask("MKCOL /d/e", 201), ask("PUT /d/e/a", [], "x", 201),
                ask("COPY /d", ["Destination: /c"], 201), ask("COPY /d", ["Destination: /c"], 204),
                ask("MOVE /d", ["Destination: /m"], 201), ask("MOVE /m", ["Destination: /c"], 204),
                ask("DELETE /c", 204),
            ]),
    ]
}
