extension Contract {
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
            88, "If-Match, alone and with If",
            text + [
                ask("PUT /a", ["If-Match: \"old\""], "y", 412), ask("PUT /a", ["If-Match: {tag}"], "y", 204),
                ask("LOCK /a", ["Depth: 0"], lockInfo(), 200),
                ask("PUT /a", ["If-Match: \"old\"", "If: (<{1}>)"], "z", 412),
                ask("PUT /a", ["If-Match: {tag}"], "z", 423),
                ask("PUT /a", ["If-Match: {tag}", "If: (<urn:x>)"], "z", 412),
                ask("PUT /a", ["If-Match: {tag}", "If: (<{1}>)"], "z", 204),
            ]),
        Contract(
            89, "two writes, two entity tags",
            [
                ask("PUT /a", [], "one", 201), ask("PUT /b", ["If: </a> ([{tag}])"], "x", 201),
                ask("HEAD /a", 200), ask("PUT /a", ["If-Match: {tag}"], "two", 204),
                ask("GET /a", ["If-None-Match: {tag}"], 304),
            ]),
        Contract(
            91, "PUT without a parent, and onto a folder",
            [ask("PUT /no/a", [], "x", 409), ask("MKCOL /d", 201), ask("PUT /d", [], "x", 405)]),
        Contract(
            93, "what was written is there at once",
            text + [
                ask("PROPFIND /a", ["Depth: 0"], 207, holds: ["<D:getcontentlength>10<"]),
                ask("PUT /a", [], "01234", 204),
                ask("PROPFIND /a", ["Depth: 0"], 207, holds: ["<D:getcontentlength>5<", "{tag}"]),
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
        Contract(100, "DELETE of what is absent", [ask("DELETE /none", 404)]),
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
            104, "no parent at the destination",
            text + [ask("MOVE /a", ["Destination: /no/a"], 409), ask("COPY /a", ["Destination: /no/a"], 409)]),
        Contract(
            105, "onto itself, and into itself",
            [
                ask("MKCOL /d", 201), ask("MOVE /d", ["Destination: /d"], 403),
                ask("MOVE /d", ["Destination: /d/e"], 403), ask("COPY /d", ["Destination: /d/e"], 403),
            ]),
        Contract(
            106, "a target that is locked is 423",
            text + [
                ask("LOCK /a", ["Depth: 0"], lockInfo(), 200), ask("DELETE /a", 423),
                ask("MOVE /a", ["Destination: /b"], 423), ask("PUT /b", [], "x", 201),
                ask("MOVE /b", ["Destination: /a"], 423), ask("COPY /b", ["Destination: /a"], 423),
            ]),
        Contract(
            107, "MOVE keeps, COPY copies properties, and not locks",
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
