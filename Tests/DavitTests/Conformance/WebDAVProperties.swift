extension WebDAVExchange {
    /// RFC 4918 §9.1, §9.2, §15.
    static let properties: [WebDAVExchange] = [
        WebDAVExchange(
            "4.4", "names without a namespace, and equal names in several namespaces",
            [
                ask("PUT /a", [], "x", 201),
                ask(
                    "PROPPATCH /a", [],
                    update(set("<p xmlns=\"\">none</p><x:p>x</x:p><p xmlns=\"urn:y\">y</p>")), 207,
                    holds: ["200 OK"], lacks: ["HTTP/1.1 403"]),
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<p xmlns=\"\"/>"), 207, holds: [">none<"],
                    lacks: [">x<", ">y<"]),
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<p xmlns=\"urn:y\"/>"), 207, holds: [">y<"],
                    lacks: [">x<"]),
                ask("PROPPATCH /a", [], update(remove("<x:p/>")), 207, holds: ["200 OK"]),
                ask(
                    "PROPFIND /a", ["Depth: 0"], 207, holds: [">none<", ">y<"], lacks: [">x<"]),
            ]),
        WebDAVExchange(
            "9.2", "instructions in document order: set, remove, set",
            [
                ask("PUT /a", [], "x", 201),
                ask(
                    "PROPPATCH /a", [],
                    update(set("<x:p>1</x:p>") + remove("<x:p/>") + set("<x:p>2</x:p>")), 207,
                    holds: ["200 OK"]),
                ask("PROPFIND /a", ["Depth: 0"], find("<x:p/>"), 207, holds: [">2<"], lacks: [">1<"]),
                ask("PROPPATCH /a", [], update(set("<x:p>3</x:p>") + remove("<x:p/>")), 207),
                ask("PROPFIND /a", ["Depth: 0"], find("<x:p/>"), 207, holds: ["404 Not Found"]),
            ]),
        WebDAVExchange(
            "9.2, 14.23", "removing a missing property is not an error",
            [
                ask("PUT /a", [], "x", 201),
                ask("PROPPATCH /a", [], update(remove("<x:none/>")), 207, holds: ["200 OK", "none"]),
                ask("PROPFIND /a", ["Depth: 0"], find("<x:none/>"), 207, holds: ["404 Not Found"]),
            ]),
        WebDAVExchange(
            "9.2, 9.2.1, 11.4", "atomic: 424 for the instructions next to a refused one",
            [
                ask("PUT /a", [], "x", 201), ask("PROPPATCH /a", [], update(set("<x:p>old</x:p>")), 207),
                ask(
                    "PROPPATCH /a", [],
                    update(
                        set("<x:p>new</x:p>") + set("<D:getetag>\"1\"</D:getetag>") + set("<x:q>2</x:q>")
                            + remove("<x:p/>")), 207,
                    holds: [
                        "<D:prop><D:getetag/></D:prop><D:status>HTTP/1.1 403 Forbidden</D:status>"
                            + "<D:error><D:cannot-modify-protected-property/></D:error>",
                        "424 Failed Dependency",
                    ], lacks: ["200 OK"]),
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<x:p/><x:q/>"), 207, holds: [">old<", "HTTP/1.1 404"],
                    lacks: [">2<"]),
            ]),
        WebDAVExchange(
            "9.2, 15.1, 15.4, 15.5, 15.6, 15.7, 15.8, 15.9, 15.10",
            "all live properties are protected against set and remove",
            [ask("PUT /a", [], "x", 201)]
                + [
                    "creationdate", "getcontentlength", "getcontenttype", "getetag", "lockdiscovery",
                    "resourcetype", "supportedlock",
                ].flatMap { name in
                    [set("<D:\(name)>1</D:\(name)>"), remove("<D:\(name)/>")].map {
                        ask(
                            "PROPPATCH /a", [], update($0), 207,
                            holds: ["<D:\(name)/>", "403 Forbidden", "cannot-modify-protected-property"],
                            lacks: ["200 OK"])
                    }
                } + [
                    // The property can be set, but not to this value.
                    ask(
                        "PROPPATCH /a", [], update(set("<D:getlastmodified>1</D:getlastmodified>")), 207,
                        holds: ["<D:getlastmodified/>", "409 Conflict"], lacks: ["200 OK"])
                ]),
        WebDAVExchange(
            "15.2", "displayname is the last segment unless a client has set it",
            [
                ask("PUT /a", [], "x", 201),
                ask("PROPFIND /a", ["Depth: 0"], find("<D:displayname/>"), 207, holds: [">a<"]),
                ask(
                    "PROPPATCH /a", [],
                    update(set("<D:displayname xml:lang=\"en\">An A</D:displayname>")), 207,
                    holds: ["200 OK"]),
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<D:displayname/>"), 207,
                    holds: ["xml:lang=\"en\"", ">An A<"]),
                ask("MOVE /a", ["Destination: /b"], 201),
                ask("PROPFIND /b", ["Depth: 0"], find("<D:displayname/>"), 207, holds: [">An A<"]),
                ask("PROPPATCH /b", [], update(remove("<D:displayname/>")), 207, holds: ["200 OK"]),
                ask("PROPFIND /b", ["Depth: 0"], find("<D:displayname/>"), 207, holds: [">b<"]),
            ]),
        WebDAVExchange(
            "15.3", "getcontentlanguage is the Content-Language of the PUT, and can be set",
            [
                ask("PUT /a", ["Content-Language: da, en"], "x", 201),
                ask("PROPFIND /a", ["Depth: 0"], find("<D:getcontentlanguage/>"), 207, holds: [">da, en<"]),
                ask("PUT /a", [], "y", 204),
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<D:getcontentlanguage/>"), 207, holds: ["HTTP/1.1 404"]
                ),
                ask("PUT /a", ["Content-Language: not a tag"], "y", 400),
                ask(
                    "PROPPATCH /a", [], update(set("<D:getcontentlanguage>fr</D:getcontentlanguage>")), 207,
                    holds: ["200 OK"]),
                ask("PROPFIND /a", ["Depth: 0"], find("<D:getcontentlanguage/>"), 207, holds: [">fr<"]),
            ]),
        WebDAVExchange(
            "9.2", "PROPPATCH reports each name once, even if it occurs twice",
            [
                ask("MKCOL /d", 201),
                ask(
                    "PROPPATCH /d", [], update(set("<x:p>1</x:p>") + set("<x:p>2</x:p>")), 207,
                    holds: ["<D:href>/d/</D:href><D:propstat><D:prop><N:p xmlns:N=\"urn:x\"/></D:prop>"]),
                ask("PROPPATCH /none", [], update(set("<x:p>1</x:p>")), 404),
                ask("PROPPATCH /d", ["Depth: 1"], update(set("<x:p>1</x:p>")), 207),
                ask("PROPPATCH /d", 400),
            ]),
        WebDAVExchange(
            "9.1, 9.1.4, 10.2", "Depth of PROPFIND",
            [
                ask("MKCOL /d", 201), ask("PUT /d/a", [], "x", 201), ask("MKCOL /d/e", 201),
                ask("PUT /d/e/b", [], "x", 201),
                ask("PROPFIND /d", ["Depth: 0"], 207, holds: ["/d/<"], lacks: ["/d/a<"]),
                ask("PROPFIND /d", ["Depth: 1"], 207, holds: ["/d/a<", "/d/e/<"], lacks: ["/d/e/b"]),
                ask("PROPFIND /d", ["Depth: infinity"], 207, holds: ["/d/e/b<"]),
                ask("PROPFIND /d", ["Depth: INFINITY"], 207, holds: ["/d/e/b<"]),
                ask("PROPFIND /d", 207, holds: ["/d/e/b<"]),
                ask("PROPFIND /d", ["Depth: 2"], 400), ask("PROPFIND /d", ["Depth: -1"], 400),
                ask("PROPFIND /d", ["Depth:"], 400), ask("PROPFIND /d", ["Depth: 0, 1"], 400),
                ask("PROPFIND /d", ["Depth: 0", "Depth: 1"], 400),
                ask("PROPFIND /d/a", ["Depth: infinity"], 207, holds: ["/d/a<"]),
            ]),
        WebDAVExchange(
            "9.1.1, 9.1.2, 9.1.3, 14.20, 14.22", "prop: existing and missing properties, each once",
            [
                ask("PUT /a", [], "x", 201),
                ask(
                    "PROPFIND /a", ["Depth: 0"],
                    find("<x:none/><D:getetag/><x:none/><D:getetag/><D:nonsense/>"),
                    207,
                    holds: [
                        "<D:propstat><D:prop><N:none xmlns:N=\"urn:x\"/><D:nonsense/></D:prop>"
                            + "<D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>",
                        "<D:getetag>{tag}</D:getetag></D:prop><D:status>HTTP/1.1 200 OK</D:status>",
                    ]),
                ask(
                    "PROPFIND /a", ["Depth: 0"], find(""), 207, holds: ["<D:href>/a</D:href>"],
                    lacks: ["getetag"]),
            ]),
        WebDAVExchange(
            "9.1.4, 9.1.5, 9.1.6, 14.2, 14.8, 14.21", "propname, allprop and include",
            [
                ask("PUT /a", [], "x", 201), ask("PROPPATCH /a", [], update(set("<x:p>one</x:p>")), 207),
                ask(
                    "PROPFIND /a", ["Depth: 0"], "<D:propfind xmlns:D=\"DAV:\"><D:propname/></D:propfind>",
                    207,
                    holds: [
                        "<N:p xmlns:N=\"urn:x\"/>", "<D:getetag/>", "<D:lockdiscovery/>",
                        "<D:supportedlock/>",
                    ],
                    lacks: ["one", "HTTP/1.1 404"]),
                ask(
                    "PROPFIND /a", ["Depth: 0"], "<D:propfind xmlns:D=\"DAV:\"><D:allprop/></D:propfind>",
                    207,
                    holds: [
                        ">one<", "<D:creationdate>", "<D:displayname>", "<D:getcontentlength>",
                        "<D:getcontenttype>",
                        "<D:getetag>", "<D:getlastmodified>", "<D:resourcetype", "<D:supportedlock>",
                        "<D:lockdiscovery",
                    ], lacks: ["HTTP/1.1 404", "quota"]),
                ask(
                    "PROPFIND /a", ["Depth: 0"],
                    "<D:propfind xmlns:D=\"DAV:\" xmlns:x=\"urn:x\"><D:allprop/><D:include><x:p/>"
                        + "<D:quota-used-bytes/></D:include></D:propfind>", 207,
                    holds: [">one<", "<D:quota-used-bytes>"]),
                ask("PROPFIND /a", ["Depth: 0", "Content-Length: 0"], 207, holds: [">one<", "<D:getetag>"]),
            ]),
        WebDAVExchange(
            "4.2, 15.1, 15.2, 15.4, 15.5, 15.6, 15.7, 15.9",
            "values of live properties match the header fields",
            [
                ask("PUT /a%20b.txt", [], "0123456789", 201), ask("MKCOL /d", 201),
                ask(
                    "HEAD /a%20b.txt", 200,
                    ["Content-Length": "10", "ETag": "*", "Last-Modified": "*", "Content-Type": "*"]),
                ask(
                    "PROPFIND /a%20b.txt", ["Depth: 0"], 207,
                    holds: [
                        "<D:getcontentlength>10<", "<D:getetag>{tag}<", "<D:displayname>a b.txt<",
                        "<D:getcontenttype>text/plain", " GMT</D:getlastmodified>", "Z</D:creationdate>",
                        "<D:resourcetype></D:resourcetype>",
                    ]),
                ask(
                    "PROPFIND /d/", ["Depth: 0"],
                    find("<D:resourcetype/><D:getcontentlength/><D:displayname/>"),
                    207,
                    holds: [
                        "<D:resourcetype><D:collection/></D:resourcetype>", "<D:displayname>d<",
                        "<D:getcontentlength/></D:prop><D:status>HTTP/1.1 404",
                    ]),
            ]),
        WebDAVExchange(
            "15.8, 15.10, 14.1, 14.12, 14.14, 14.29", "lockdiscovery and supportedlock",
            [
                ask("PUT /a", [], "x", 201),
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<D:lockdiscovery/>"), 207,
                    holds: ["<D:lockdiscovery/>"]),
                ask("LOCK /a", ["Depth: 0", "Timeout: Second-500"], lockInfo("shared"), 200),
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<D:lockdiscovery/><D:supportedlock/>"), 207,
                    holds: [
                        "<D:lockscope><D:shared/></D:lockscope><D:locktype><D:write/></D:locktype>",
                        "<D:depth>0</D:depth>", "<D:owner", ">me</D:owner>",
                        "<D:locktoken><D:href>{1}</D:href></D:locktoken>",
                        "<D:lockroot><D:href>/a</D:href></D:lockroot>",
                        "<D:lockentry><D:lockscope><D:exclusive/></D:lockscope>",
                    ]),
            ]),
    ]
}
