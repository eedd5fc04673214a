extension Contract {
    private static let sha1OfX = "11f6ad8ec52a2984abaafd7c3b516503785c2072"

    static let writing: [Contract] = [
        Contract(
            85, "201 and 204, with validators",
            [
                ask("PUT /a", [], "x", 201, ["ETag": "*", "Last-Modified": "*"]),
                ask("PUT /a", [], "y", 204, ["ETag": "*", "Last-Modified": "*"]),
                ask("GET /a", 200, ["ETag": "{tag}"]),
            ]),
        Contract(
            86, "an empty file",
            [ask("PUT /a", ["Content-Length: 0"], 201), ask("GET /a", 200, ["Content-Length": "0"])]),
        Contract(
            87, "If-None-Match: *",
            [ask("PUT /a", ["If-None-Match: *"], "x", 201), ask("PUT /a", ["If-None-Match: *"], "y", 412)]),
        Contract(
            88, "If-Match, with and without If",
            text + [
                ask("PUT /a", ["If-Match: \"old\""], "y", 412), ask("PUT /a", ["If-Match: {tag}"], "y", 204),
                ask("LOCK /a", ["Depth: 0"], lockInfo(), 200),
                ask("PUT /a", ["If-Match: \"old\"", "If: (<{1}>)"], "z", 412),
                ask("PUT /a", ["If-Match: {tag}"], "z", 423),
                ask("PUT /a", ["If-Match: {tag}", "If: (<urn:x>)"], "z", 412),
                ask("PUT /a", ["If-Match: {tag}", "If: (<{1}>)"], "z", 204),
            ]),
        Contract(
            89, "every write changes the entity tag",
            [
                ask("PUT /a", [], "one", 201), ask("PUT /b", ["If: </a> ([{tag}])"], "x", 201),
                ask("HEAD /a", 200), ask("PUT /a", ["If-Match: {tag}"], "two", 204),
                ask("GET /a", ["If-None-Match: {tag}"], 304),
            ]),
        Contract(
            90, "a partial write is applied exactly or refused",
            text + [
                ask("PUT /a", ["Content-Range: bytes 4-5/10"], "xy", 204),
                ask("GET /a", 200, holds: ["0123xy6789"]),
                ask("PUT /a", ["Content-Range: bytes 4-9/10"], "xy", 400),
                ask("PUT /a", ["Content-Range: bytes 12-13/14"], "xy", 416, ["Content-Range": "bytes */10"]),
                ask("GET /a", 200, ["Content-Length": "10"], holds: ["0123xy6789"]),
            ]),
        Contract(
            91, "PUT without a parent, and onto a folder",
            [ask("PUT /no/a", [], "x", 409), ask("MKCOL /d", 201), ask("PUT /d", [], "x", 405)]),
        Contract(
            93, "written content is immediately visible",
            text + [
                ask("PROPFIND /a", ["Depth: 0"], 207, holds: ["<D:getcontentlength>10<"]),
                ask("PUT /a", [], "01234", 204),
                ask("PROPFIND /a", ["Depth: 0"], 207, holds: ["<D:getcontentlength>5<", "{tag}"]),
            ]),
        Contract(
            94, "the time of an upload",
            [
                ask("PUT /a", ["X-OC-Mtime: 1000000000"], "x", 201, ["X-OC-MTime": "accepted"]),
                ask("PROPFIND /a", ["Depth: 0"], 207, holds: [">Sun, 09 Sep 2001 01:46:40 GMT<"]),
            ]),
        Contract(
            95, "the checksum of an upload",
            [
                ask("PUT /a", ["OC-Checksum: SHA1:\(sha1OfX)"], "x", 201),
                ask("PUT /a", ["OC-Checksum: SHA1:\(sha1OfX)"], "y", 400), ask("GET /a", 200, holds: ["x"]),
                ask("PUT /a", ["OC-Checksum: TLSH:0"], "z", 204),
            ]),
        Contract(
            97, "MKCOL",
            [
                ask("MKCOL /d", 201), ask("MKCOL /d", 405), ask("MKCOL /no/d", 409),
                ask("MKCOL /e", [], "x", 415),
            ]),
        Contract(
            98, "MKCOL with and without a slash",
            [ask("MKCOL /d", ["Content-Length: 0"], 201), ask("MKCOL /e/", 201)]),
        Contract(
            99, "DELETE of a folder",
            [
                ask("MKCOL /d", 201), ask("PUT /d/a", [], "x", 201),
                ask("DELETE /d", ["Depth: Infinity"], 204), ask("MKCOL /d", 201), ask("DELETE /d/", 204),
                ask("MKCOL /d", 201), ask("DELETE /d", 204), ask("GET /d/a", 404),
            ]),
        Contract(100, "DELETE of a missing resource", [ask("DELETE /none", 404)]),
        Contract(
            101, "201 and 204, never 207",
            text + [
                ask("COPY /a", ["Destination: /b"], 201), ask("COPY /a", ["Destination: /b"], 204),
                ask("MOVE /a", ["Destination: /c"], 201), ask("MOVE /b", ["Destination: /c"], 204),
            ]),
        Contract(
            102, "Overwrite",
            text + [
                ask("COPY /a", ["Destination: /b"], 201),
                ask("MOVE /a", ["Destination: /b", "Overwrite: F"], 412),
                ask("MOVE /a", ["Destination: /b"], 204),
            ]),
        Contract(
            103, "Depth of COPY",
            [
                ask("MKCOL /d", 201), ask("PUT /d/a", [], "x", 201), ask("COPY /d", ["Destination: /e"], 201),
                ask("GET /e/a", 200),
                ask("COPY /d/a", ["Destination: /b", "Depth: infinity"], 201),
                ask("COPY /d", ["Destination: /f", "Depth: 0"], 201), ask("GET /f/a", 404),
            ]),
        Contract(
            104, "destination without a parent",
            text + [ask("MOVE /a", ["Destination: /no/a"], 409), ask("COPY /a", ["Destination: /no/a"], 409)]),
        Contract(
            105, "onto and into itself",
            [
                ask("MKCOL /d", 201), ask("MOVE /d", ["Destination: /d"], 403),
                ask("MOVE /d", ["Destination: /d/e"], 403), ask("COPY /d", ["Destination: /d/e"], 403),
            ]),
        Contract(
            106, "a request for a locked target gets 423",
            text + [
                ask("LOCK /a", ["Depth: 0"], lockInfo(), 200), ask("DELETE /a", 423),
                ask("MOVE /a", ["Destination: /b"], 423), ask("PUT /b", [], "x", 201),
                ask("MOVE /b", ["Destination: /a"], 423), ask("COPY /b", ["Destination: /a"], 423),
            ]),
        Contract(
            107, "MOVE keeps and COPY copies properties, but not locks",
            text + [
                ask("PROPPATCH /a", [], update(set("<x:p>1</x:p>")), 207), ask("HEAD /a", 200),
                ask("MOVE /a", ["Destination: /b"], 201),
                ask("GET /b", ["If-None-Match: {tag}"], 304),
                ask("PROPFIND /b", ["Depth: 0"], find("<x:p/>"), 207, holds: [">1<"]),
                ask("LOCK /b", ["Depth: 0"], lockInfo(), 200), ask("COPY /b", ["Destination: /c"], 201),
                ask("PUT /c", [], "x", 204),
                ask("PROPFIND /c", ["Depth: 0"], find("<x:p/>"), 207, holds: [">1<"]),
            ]),
    ]
}
