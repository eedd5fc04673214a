extension Contract {
    static let answers: [Contract] = [
        Contract(
            60, "the prefix D",
            [
                ask(
                    "PROPFIND /", ["Depth: 0"], 207, holds: ["<D:multistatus xmlns:D=\"DAV:\">"],
                    lacks: ["<d:", "<multistatus"])
            ]),
        Contract(
            61, "requested properties come first",
            text + [
                ask(
                    "PROPFIND /", ["Depth: 1"], 207,
                    holds: ["<D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>/</D:href>"])
            ]),
        Contract(
            62, "status lines have a reason phrase",
            [ask("PROPFIND /", ["Depth: 0"], 207, holds: ["<D:status>HTTP/1.1 200 OK</D:status>"])]),
        Contract(
            63, "each unknown name once",
            text + [
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<x:a/><x:a/>"), 207,
                    holds: [
                        "<D:href>/a</D:href><D:propstat><D:prop><N:a xmlns:N=\"urn:x\"/></D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat></D:response>"
                    ])
            ]),
        Contract(
            64, "resourcetype without whitespace",
            text + [
                ask(
                    "PROPFIND /", ["Depth: 0"], find("<D:resourcetype/>"), 207,
                    holds: ["<D:resourcetype><D:collection/></D:resourcetype>"]),
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<D:resourcetype/>"), 207,
                    holds: ["<D:resourcetype></D:resourcetype>"]),
            ]),
        Contract(
            65, "getlastmodified of files and folders",
            text + [
                ask("MKCOL /d", 201),
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<D:getlastmodified/>"), 207,
                    holds: [" GMT</D:getlastmodified>"]),
                ask(
                    "PROPFIND /d", ["Depth: 0"], find("<D:getlastmodified/>"), 207,
                    holds: [" GMT</D:getlastmodified>"]),
            ]),
        Contract(
            66, "creationdate of files and folders",
            text + [
                ask("MKCOL /d", 201),
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<D:creationdate/>"), 207, holds: ["Z</D:creationdate>"]
                ),
                ask(
                    "PROPFIND /d", ["Depth: 0"], find("<D:creationdate/>"), 207, holds: ["Z</D:creationdate>"]
                ),
            ]),
        Contract(
            67, "a folder has no length",
            [
                ask(
                    "PROPFIND /", ["Depth: 0"], find("<D:getcontentlength/>"), 207,
                    holds: ["<D:getcontentlength/></D:prop><D:status>HTTP/1.1 404"])
            ]),
        Contract(
            68, "one entity tag everywhere",
            [
                ask("PUT /a", [], "x", 201, ["ETag": "*"]), ask("HEAD /a", 200, ["ETag": "{tag}"]),
                ask("PROPFIND /a", ["Depth: 0"], 207, holds: ["<D:getetag>{tag}</D:getetag>"], lacks: ["W/"]),
            ]),
        Contract(
            137, "folders have no entity tag, but a substitute",
            [
                ask("MKCOL /d", 201), ask("HEAD /d/", 200, ["ETag": nil]),
                ask("PROPFIND /d", ["Depth: 0"], find("<D:getetag/>"), 207, holds: ["404 Not Found"]),
                ask("PROPFIND /d", ["Depth: 0"], find("<D:sync-token/>"), 207, holds: ["200 OK"]),
            ]),
        Contract(
            69, "displayname defaults to the name",
            [
                ask("PUT /a&b", [], "x", 201),
                ask("PROPFIND /a&b", ["Depth: 0"], 207, holds: ["<D:displayname>a&amp;b</D:displayname>"]),
            ]),
        Contract(
            70, "types",
            [
                ask("PUT /a.txt", [], "x", 201),
                ask(
                    "PROPFIND /", ["Depth: 1"], 207,
                    holds: ["<D:getcontenttype>text/plain", "<D:getcontenttype>httpd/unix-directory"]),
            ]),
        Contract(
            71, "quota only if requested",
            [
                ask(
                    "PROPFIND /", ["Depth: 0"], find("<D:quota-available-bytes/><D:quota-used-bytes/>"), 207,
                    holds: ["<D:quota-available-bytes>", "200 OK"], lacks: ["HTTP/1.1 404"]),
                ask("PROPFIND /", ["Depth: 0"], 207, lacks: ["quota"]),
            ]),
        Contract(
            72, "supportedlock",
            text + [
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<D:supportedlock/>"), 207,
                    holds: [
                        "<D:lockentry><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>",
                        "<D:shared/>",
                    ])
            ]),
        Contract(
            73, "lockdiscovery",
            text + [
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<D:lockdiscovery/>"), 207,
                    holds: ["<D:lockdiscovery/>"]), ask("LOCK /a", ["Depth: 0"], lockInfo(), 200),
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<D:lockdiscovery/>"), 207,
                    holds: [">me</D:owner>", "<D:depth>0<", "<D:timeout>Second-", "{1}", "<D:lockroot>"]),
            ]),
        Contract(
            74, "only responses contain href",
            text + [
                ask("LOCK /a", ["Depth: 0"], lockInfo(), 200),
                ask(
                    "PROPFIND /a", ["Depth: 0"],
                    find("<D:getlastmodified/><D:getcontentlength/><D:creationdate/><D:resourcetype/>"), 207,
                    lacks: ["{1}", "lockroot"]),
            ]),
        Contract(
            75, "an empty folder is a single response",
            [
                ask("MKCOL /d", 201),
                ask(
                    "PROPFIND /d", ["Depth: 1"], 207, holds: ["</D:response></D:multistatus>"],
                    lacks: ["</D:response><D:response>"]),
            ]),
        Contract(
            77, "executable",
            text + [
                ask(
                    "PROPFIND /a", ["Depth: 0"],
                    find("<A:executable xmlns:A=\"http://apache.org/dav/props/\"/>"), 207, holds: [">F<"]),
                ask(
                    "PROPFIND /", ["Depth: 0"],
                    find("<A:executable xmlns:A=\"http://apache.org/dav/props/\"/>"), 207,
                    holds: ["HTTP/1.1 404"]),
            ]),
    ]

    static let reading: [Contract] = [
        Contract(
            78, "HEAD returns the fields of GET",
            text + [
                ask(
                    "HEAD /a", 200,
                    ["Content-Length": "10", "ETag": "{tag}", "Last-Modified": "*", "Content-Type": "*"])
            ]),
        Contract(79, "HEAD of a folder", [ask("MKCOL /d", 201), ask("HEAD /d", 200), ask("HEAD /d/", 200)]),
        Contract(
            80, "ranges",
            text + [
                ask("GET /a", ["Range: bytes=2-3"], 206, ["Content-Range": "bytes 2-3/10"], holds: ["23"]),
                ask("GET /a", ["Range: bytes=8-"], 206, holds: ["89"]),
                ask("GET /a", ["Range: bytes=-1"], 206, holds: ["9"]),
                ask("GET /a", ["Range: bytes=10-"], 416, ["Content-Range": "bytes */10"]),
                ask("GET /a", 200, ["Accept-Ranges": "bytes"]),
            ]),
        Contract(
            81, "If-Range",
            text + [
                ask("GET /a", ["Range: bytes=0-1", "If-Range: {tag}"], 206),
                ask("GET /a", ["Range: bytes=0-1", "If-Range: \"old\""], 200),
                ask("GET /a", ["Range: bytes=0-1", "If-Range: Sun, 06 Nov 1994 08:49:37 GMT"], 200),
            ]),
        Contract(
            82, "If-None-Match takes precedence over If-Modified-Since",
            text + [
                ask("GET /a", ["If-None-Match: {tag}"], 304, ["ETag": "{tag}"]),
                ask(
                    "GET /a", ["If-None-Match: {tag}", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"],
                    304),
                ask(
                    "GET /a", ["If-None-Match: \"old\"", "If-Modified-Since: Sun, 06 Nov 2094 08:49:37 GMT"],
                    200),
            ]),
        Contract(
            83, "stored files are not compressed",
            text + [
                ask(
                    "GET /a", ["Accept-Encoding: gzip, br"], 200,
                    ["Content-Encoding": nil, "Content-Length": "10"])
            ]),
        Contract(84, "requests for missing resources get 404", [ask("GET /absent.prop", 404)]),
    ]
}
