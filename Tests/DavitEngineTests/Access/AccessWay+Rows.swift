import DavitAccess

extension AccessWay {
    static let all: [AccessWay] = reading + writing + transfers + locks + forms + trash + uploads + principals

    private static let form = [
        ("Content-Type", "application/x-www-form-urlencoded"), ("Sec-Fetch-Site", "same-origin"),
    ]
    static let lockBody =
        "<D:lockinfo xmlns:D='DAV:'><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>"
    static let patchBody =
        "<D:propertyupdate xmlns:D='DAV:'><D:set><D:prop><x xmlns='urn:x'>1</x></D:prop></D:set></D:propertyupdate>"
    private static let searchBody = """
        <D:searchrequest xmlns:D="DAV:"><D:basicsearch><D:select><D:prop><D:displayname/></D:prop></D:select>\
        <D:from><D:scope><D:href>.</D:href><D:depth>infinity</D:depth></D:scope></D:from></D:basicsearch>\
        </D:searchrequest>
        """
    private static let syncBody = """
        <D:sync-collection xmlns:D="DAV:"><D:sync-token/><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop>\
        </D:sync-collection>
        """
    private static let expandBody =
        "<D:expand-property xmlns:D='DAV:'><D:property name='displayname'/></D:expand-property>"
    private static let trashBody = "<V:trash xmlns:V='urn:davit:trash'/>"

    private static let reading: [AccessWay] = [
        .init(name: "GET content", target: "P/f", needs: [.has(.read)], success: 200, isAnnounced: true),
        .init(name: "HEAD content", target: "P/f", needs: [.has(.read)], success: 200, isAnnounced: true),
        .init(
            name: "GET range", target: "P/f", fields: [("Range", "bytes=0-0")], needs: [.has(.read)],
            success: 206),
        .init(name: "GET collection", target: "P/d/", needs: [.has(any)], success: 200, isAnnounced: true),
        .init(
            name: "GET events", target: "P/?events", needs: [.has(any)], success: 200, needsJournal: true,
            isToFolder: true),
        .init(
            name: "PROPFIND content", target: "P/f", fields: [("Depth", "0")], needs: [.has(.list)],
            success: 207, isAnnounced: true),
        .init(
            name: "PROPFIND collection", target: "P/d", fields: [("Depth", "1")], needs: [.has(any)],
            success: 207, reveals: "/d/m<", isAnnounced: true),
        .init(
            name: "SEARCH collection", target: "P/", fields: [("Content-Type", "text/xml")],
            body: searchBody, needs: [.has(any)], success: 207, reveals: "/f<", isToFolder: true),
        .init(
            name: "REPORT expand-property", target: "P/f", body: expandBody, needs: [.has(.list)],
            success: 207, isAnnounced: true),
        .init(
            name: "REPORT sync-collection", target: "P/", body: syncBody, needs: [.has(any)], success: 207,
            needsJournal: true, reveals: "/f<", isToFolder: true),
        .init(
            name: "REPORT trash", target: "P/", fields: [("Depth", "infinity")], body: trashBody,
            needs: [.has(any)], success: 207, preparation: .trashed, reveals: "/t<", isToFolder: true),
        .init(name: "OPTIONS content", target: "P/f", needs: [], success: 200),
    ]

    private static let writing: [AccessWay] = [
        .init(
            name: "PUT new", target: "P/new", body: "x", needs: [.makes(.create, .target)], success: 201,
            isAnnounced: true),
        .init(
            name: "PUT over", target: "P/f", body: "x", needs: [.makes(.change, .target)], success: 204,
            isAnnounced: true),
        .init(
            name: "PUT over empty", target: "P/e", body: "x", needs: [.makes([.change, .create], .target)],
            success: 204, isAnnounced: true),
        .init(
            name: "PUT part", target: "P/f", fields: [("Content-Range", "bytes 0-0/4")], body: "x",
            needs: [.makes(.change, .target)], success: 204),
        .init(
            name: "PATCH part", target: "P/f",
            fields: [("Content-Type", "application/x-sabredav-partialupdate"), ("X-Update-Range", "append")],
            body: "x", needs: [.has(.change)], success: 204, isAnnounced: true),
        .init(
            name: "MKCOL new", target: "P/new", needs: [.makes(.create, .target)], success: 201,
            isAnnounced: true),
        .init(
            name: "MKCOL extended", target: "P/new", fields: [("Content-Type", "application/xml")],
            body:
                "<D:mkcol xmlns:D='DAV:'><D:set><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop></D:set></D:mkcol>",
            needs: [.makes(.create, .target)], success: 201),
        .init(
            name: "PROPPATCH content", target: "P/f", body: patchBody, needs: [.has(.change)], success: 207,
            isAnnounced: true),
        .init(
            name: "PROPPATCH collection", target: "P/d", body: patchBody, needs: [.has(.change)],
            success: 207, isAnnounced: true),
        .init(
            name: "DELETE content", target: "P/f", needs: [.has(.delete)], success: 204, isAnnounced: true),
        .init(
            name: "DELETE collection", target: "P/d", needs: [.has(.delete)], success: 204, isAnnounced: true),
        .init(
            name: "POST member", target: "P/d/?add-member", body: "x", needs: [.makes(.create)],
            success: 201, isAnnounced: true, isToFolder: true),
    ]

    private static let transfers: [AccessWay] = [
        .init(
            name: "COPY within", target: "P/f", fields: [("Destination", "P/new")],
            needs: [.has(.read), .makes(.create)], success: 201),
        .init(
            name: "COPY out", target: "P/f", fields: [("Destination", "/open/new")],
            needs: [.has(.read), .makes(.create, .open)], success: 201),
        .init(
            name: "COPY in", target: "/open/g", fields: [("Destination", "P/new")],
            needs: [.has(.read, .open), .makes(.create)], success: 201),
        .init(
            name: "COPY over", target: "/open/g", fields: [("Destination", "P/f")],
            needs: [.has(.read, .open), .makes(.change)], success: 204),
        .init(
            name: "COPY over collection", target: "/open/g", fields: [("Destination", "P/d")],
            needs: [.has(.read, .open), .makes(.change), .makes(.delete)], success: 204),
        .init(
            name: "MOVE rename", target: "P/f", fields: [("Destination", "P/new")],
            needs: [.has(.change), .makes([.create, .change])], success: 201),
        .init(
            name: "MOVE collection", target: "P/d", fields: [("Destination", "P/new")],
            needs: [.has(.change), .makes([.create, .change])], success: 201),
        .init(
            name: "MOVE out", target: "P/f", fields: [("Destination", "/open/new")],
            needs: [.has(.delete), .has(.read), .makes(.create, .open)], success: 201),
        .init(
            name: "MOVE down", target: "P/f", fields: [("Destination", "P/d/new")],
            needs: [.has(.delete), .has(.read), .makes(.create)], success: 201),
        .init(
            name: "MOVE in", target: "/open/g", fields: [("Destination", "P/new")],
            needs: [.has(.delete, .open), .has(.read, .open), .makes(.create)], success: 201),
        .init(
            name: "MOVE over", target: "/open/g", fields: [("Destination", "P/f")],
            needs: [.has(.delete, .open), .has(.read, .open), .makes(.change)], success: 204),
    ]

    private static let locks: [AccessWay] = [
        .init(
            name: "LOCK content", target: "P/f", body: lockBody, needs: [.makes(.change, .target)],
            success: 200, isAnnounced: true),
        .init(
            name: "LOCK collection", target: "P/d", fields: [("Depth", "infinity")], body: lockBody,
            needs: [.makes(.change, .target)], success: 200, isAnnounced: true),
        .init(
            name: "LOCK new", target: "P/new", body: lockBody, needs: [.makes(.create, .target)],
            success: 201, isAnnounced: true),
        .init(
            name: "LOCK refresh", target: "P/f", fields: [("If", "(<{0}>)")],
            needs: [.makes(.change, .target)], success: 200, preparation: .ownLock),
        .init(
            name: "UNLOCK own", target: "P/f", fields: [("Lock-Token", "<{0}>")], needs: [], success: 204,
            preparation: .ownLock),
        .init(
            name: "UNLOCK other", target: "P/f", fields: [("Lock-Token", "<{0}>")], needs: [], success: 403,
            preparation: .otherLock),
    ]

    private static let forms: [AccessWay] = [
        .init(
            name: "POST upload form", target: "P/d/?action=upload",
            fields: [
                ("Content-Type", "multipart/form-data; boundary=b"), ("Sec-Fetch-Site", "same-origin"),
            ],
            body:
                "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"new\"\r\n\r\nx\r\n--b--\r\n",
            needs: [.makes(.create)], success: 201, isToFolder: true),
        .init(
            name: "POST mkcol form", target: "P/d/?action=mkcol", fields: form, body: "name=new",
            needs: [.makes(.create)], success: 201, isToFolder: true),
        .init(
            name: "POST delete form", target: "P/?action=delete", fields: form, body: "member=f",
            needs: [.has(.delete)], success: 204, isToFolder: true),
        .init(
            name: "POST rename form", target: "P/?action=rename", fields: form, body: "member=f&name=new",
            needs: [.has(.change)], success: 201, isToFolder: true),
        .init(
            name: "POST copy form", target: "P/?action=copy", fields: form, body: "member=f&to=d",
            needs: [.has(.read), .makes(.create)], success: 201, isToFolder: true),
        .init(
            name: "POST move form", target: "P/?action=move", fields: form, body: "member=f&to=d",
            needs: [.has(.delete), .has(.read), .makes(.create)], success: 201, isToFolder: true),
        .init(
            name: "POST unlock form", target: "P/?action=unlock", fields: form, body: "member=f&token={0}",
            needs: [.has(.manage)], success: 204, preparation: .otherLock, isToFolder: true),
        .init(
            name: "POST archive form", target: "P/?action=archive", fields: form, body: "member=f",
            needs: [.has(any)], success: 200, isToFolder: true),
    ]

    private static let trash: [AccessWay] = [
        .init(
            name: "POST restore form", target: "P/?action=restore", fields: form, body: "id={0}",
            needs: [.has(.list, .folder), .makes(.create)], success: 201, preparation: .trashed,
            isToFolder: true),
        .init(
            name: "POST purge form", target: "P/?action=purge", fields: form, body: "id={0}",
            needs: [.has(.list, .folder), .has(.delete, .folder)], success: 204, preparation: .trashed,
            isToFolder: true),
    ]

    private static let tus = ("Tus-Resumable", "1.0.0")
    private static let draft = ("Upload-Draft-Interop-Version", "8")
    private static let writes: Rights = [.create, .change]

    private static let uploads: [AccessWay] = [
        .init(
            name: "POST tus", target: "P/d/",
            fields: [tus, ("Upload-Length", "4"), ("Upload-Metadata", "filename bmV3")],
            needs: [.makes(.create)], success: 201),
        .init(
            name: "POST tus part", target: "P/d/",
            fields: [tus, ("Upload-Length", "4"), ("Upload-Concat", "partial")], needs: [.makes(.create)],
            success: 201),
        .init(
            name: "POST tus parts", target: "P/",
            fields: [tus, ("Upload-Concat", "final;{0}"), ("Upload-Metadata", "filename bmV3")],
            needs: [.has(writes, .folder), .makes(.create)], success: 201, preparation: .tusPart),
        .init(
            name: "PUT draft", target: "P/new", fields: [("Upload-Complete", "?1"), draft], body: "x",
            needs: [.makes(.create, .target)], success: 201),
        .init(
            name: "PUT draft begin", target: "P/new", fields: [("Upload-Complete", "?0"), draft], body: "x",
            needs: [.makes(.create, .target)], success: 201),
        .init(
            name: "POST draft", target: "P/d/?add-member", fields: [("Upload-Complete", "?1"), draft],
            body: "x", needs: [.makes(.create)], success: 201, isToFolder: true),
        .init(name: "OPTIONS upload", target: "{0}", needs: [], success: 204, preparation: .tusUpload),
        .init(
            name: "HEAD upload", target: "{0}", fields: [tus], needs: [.has(writes, .folder)], success: 200,
            preparation: .tusUpload),
        .init(
            name: "PATCH upload", target: "{0}",
            fields: [tus, ("Upload-Offset", "0"), ("Content-Type", "application/offset+octet-stream")],
            body: "data", needs: [.has(writes, .folder), .makes(.create)], success: 204,
            preparation: .tusUpload),
        .init(
            name: "PATCH draft upload", target: "{0}",
            fields: [
                draft, ("Upload-Offset", "1"), ("Upload-Complete", "?1"),
                ("Content-Type", "application/partial-upload"),
            ], body: "data", needs: [.has(writes, .folder), .makes(.create)], success: 201,
            preparation: .draftUpload),
        .init(
            name: "DELETE upload", target: "{0}", fields: [tus], needs: [.has(writes, .folder)],
            success: 204, preparation: .tusUpload),
    ]

    private static let principals: [AccessWay] = [
        .init(
            name: "PROPFIND principal", target: "/.davit-principalsfolder/", fields: [("Depth", "1")],
            needs: [], success: 207),
        .init(name: "OPTIONS principal", target: "/.davit-principalsfolder/", needs: [], success: 200),
    ]
}
