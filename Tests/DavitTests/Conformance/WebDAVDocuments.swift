extension WebDAVExchange {
    /// Returns an exchange that sets a value of `x:p`, and reads it from the resource, from a copy, and from the
    /// copy after a MOVE.
    /// - Parameter held: the texts that the responses must contain, in the form that the server writes.
    private static func value(
        _ clauses: String, _ title: String, _ sent: String, returnedAs held: [String], lacks: [String] = []
    ) -> WebDAVExchange {
        WebDAVExchange(
            clauses, title,
            [
                ask("PUT /a", [], "x", 201),
                ask(
                    "PROPPATCH /a", [], sent, 207, holds: ["200 OK"], lacks: ["HTTP/1.1 403", "HTTP/1.1 424"]),
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<x:p/>"), 207, holds: held,
                    lacks: lacks + ["HTTP/1.1 404"]),
                ask("PROPFIND /a", ["Depth: 0"], 207, holds: held),
                ask("COPY /a", ["Destination: /b"], 201),
                ask(
                    "PROPFIND /b", ["Depth: 0"], find("<x:p/>"), 207, holds: held,
                    lacks: lacks + ["HTTP/1.1 404"]),
                ask("MOVE /b", ["Destination: /c"], 201),
                ask(
                    "PROPFIND /c", ["Depth: 0"], find("<x:p/>"), 207, holds: held,
                    lacks: lacks + ["HTTP/1.1 404"]),
            ])
    }

    /// §4.3: the parts of a value that are preserved.
    static let values: [WebDAVExchange] = [
        value("4.3", "text", update(set("<x:p>one</x:p>")), returnedAs: [">one</x:p>"]),
        value(
            "4.3", "white space is preserved", update(set("<x:p> \n\t one  two \n</x:p>")),
            returnedAs: ["> \n\t one  two \n</x:p>"]),
        value(
            "4.3", "an empty value is preserved", update(set("<x:p></x:p>")), returnedAs: ["<x:p", "200 OK"]),
        value(
            "4.3", "mixed content", update(set("<x:p>a<x:b>c</x:b>d<x:e/>f</x:p>")),
            returnedAs: [">a<x:b>c</x:b>d<x:e/>f</x:p>"]),
        value(
            "4.3", "attributes of child elements",
            update(set("<x:p><x:b one=\"1\" x:two=\"2 &lt; 3\">c</x:b></x:p>")),
            returnedAs: ["one=\"1\"", "x:two=\"2 &lt; 3\""]),
        value(
            "4.3", "namespace declarations in every form",
            update(
                set("<p xmlns=\"urn:x\"><q xmlns=\"urn:y\"><z:r xmlns:z=\"urn:z\"/><s xmlns=\"\"/></q></p>")),
            returnedAs: ["xmlns=\"urn:x\"", "xmlns=\"urn:y\"", "xmlns:z=\"urn:z\"", "<s xmlns=\"\"/>"]),
        value(
            "4.3", "a prefix that occurs only in text",
            update(set("<x:p xmlns:n=\"urn:n\">n:name</x:p>")),
            returnedAs: ["xmlns:n=\"urn:n\"", ">n:name</x:p>"]),
        value(
            "4.3", "the xml:lang of the property", update(set("<x:p xml:lang=\"de\">eins</x:p>")),
            returnedAs: ["xml:lang=\"de\"", ">eins</x:p>"]),
        value(
            "4.3, 9.2", "the xml:lang of an enclosing element",
            update("<D:set><D:prop xml:lang=\"fr\"><x:p>un</x:p></D:prop></D:set>"),
            returnedAs: ["xml:lang=\"fr\"", ">un</x:p>"]),
        value(
            "4.3", "the innermost xml:lang applies",
            update("<D:set xml:lang=\"fr\"><D:prop><x:p xml:lang=\"en\">one</x:p></D:prop></D:set>"),
            returnedAs: ["xml:lang=\"en\""], lacks: ["xml:lang=\"fr\""]),
        value(
            "4.3", "comments and processing instructions",
            update(set("<x:p>a<!-- note -->b<?do it?>c</x:p>")),
            returnedAs: [">a<!-- note -->b<?do it?>c</x:p>"]),
        value(
            "4.3", "a CDATA section", update(set("<x:p><![CDATA[<a> & ]] >]]></x:p>")),
            returnedAs: ["<![CDATA[<a> & ]] >]]>"]),
        value(
            "4.3", "entity and character references", update(set("<x:p>&lt;a&gt; &amp; &#x263A;</x:p>")),
            returnedAs: [">&lt;a&gt; &amp; \u{263A}</x:p>"]),
        value(
            "4.3", "UTF-8 characters of every length", update(set("<x:p>\u{E4}\u{65E5}\u{1F600}</x:p>")),
            returnedAs: [">\u{E4}\u{65E5}\u{1F600}</x:p>"]),
        value(
            "4.3", "another encoding of the document",
            "<?xml version=\"1.0\" encoding=\"us-ascii\"?>" + update(set("<x:p>&#228;</x:p>")),
            returnedAs: [">\u{E4}</x:p>"]),
        value(
            "4.3", "100 KiB", update(set("<x:p>\(String(repeating: "0123456789", count: 10_240))!</x:p>")),
            returnedAs: [">\(String(repeating: "0123456789", count: 10_240))!</x:p>"]),
        value(
            "4.4", "non-ASCII names", update(set("<x:p>1</x:p><x:\u{E4}\u{65E5}>2</x:\u{E4}\u{65E5}>")),
            returnedAs: [">1</x:p>"]),
    ]

    /// §8.2, §17, §20.6, §14: the XML accepted in requests, and the XML of responses.
    static let documents: [WebDAVExchange] = [
        WebDAVExchange(
            "8.2", "malformed and unexpected documents change nothing",
            [
                ask("PUT /a", [], "x", 201),
                ask("PROPPATCH /a", [], "<D:propertyupdate xmlns:D=\"DAV:\">", 400),
                ask("PROPPATCH /a", [], update(set("<x:p>1</x:q>")), 400),
                ask("PROPPATCH /a", [], update(set("<y:p>1</y:p>")), 400),
                ask("PROPPATCH /a", [], update(""), 400), ask("PROPPATCH /a", [], update("<D:set/>"), 400),
                ask("PROPPATCH /a", [], find("<x:p/>"), 422),
                ask("PROPFIND /a", [], "<propfind><prop/></propfind>", 422),
                ask("PROPFIND /a", [], "{}", 400),
                ask("PROPFIND /a", [], "<D:propfind xmlns:D=\"DAV:\"/>", 400),
                ask(
                    "PROPFIND /a", [], "<D:propfind xmlns:D=\"DAV:\"><D:prop/><D:propname/></D:propfind>", 400
                ),
                ask("LOCK /a", [], "<D:lockinfo xmlns:D=\"DAV:\"/>", 400),
                ask("LOCK /a", [], lockInfo("common"), 422),
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<D:lockdiscovery/>"), 207,
                    holds: ["<D:lockdiscovery/>"]),
            ]),
        WebDAVExchange(
            "17, 14", "unknown elements and attributes are ignored",
            [
                ask("PUT /a", [], "x", 201),
                ask(
                    "PROPFIND /a", ["Depth: 0"],
                    "<D:propfind xmlns:D=\"DAV:\" xmlns:e=\"urn:e\" e:a=\"1\" b=\"2\"><e:expired/><D:prop e:c=\"3\">"
                        + "<D:getetag/></D:prop><D:unknown><D:allprop/></D:unknown></D:propfind>", 207,
                    holds: ["<D:getetag>{tag}"], lacks: ["getlastmodified"]),
                ask(
                    "PROPPATCH /a", [],
                    update("<x:set><D:prop><x:q>1</x:q></D:prop></x:set>" + set("<x:p>1</x:p>")), 207,
                    lacks: ["q"]),
                ask(
                    "LOCK /a", [],
                    "<D:lockinfo xmlns:D=\"DAV:\"><D:new/><D:lockscope><D:exclusive/></D:lockscope><D:locktype>"
                        + "<D:write/></D:locktype></D:lockinfo>", 200),
            ]),
        WebDAVExchange(
            "8.2, 14", "all forms of namespaces, and any Content-Type",
            [
                ask("PUT /a", [], "x", 201),
                ask(
                    "PROPFIND /a", ["Depth: 0"],
                    "<propfind xmlns=\"DAV:\"><prop><getetag/></prop></propfind>", 207,
                    holds: ["<D:getetag>{tag}"]),
                ask(
                    "PROPFIND /a", ["Depth: 0"],
                    "<DAV:propfind xmlns:DAV=\"DAV:\"><DAV:prop><getetag xmlns=\"DAV:\"/></DAV:prop></DAV:propfind>",
                    207, holds: ["<D:getetag>{tag}"]),
                ask(
                    "PROPFIND /a", ["Depth: 0"],
                    "<a:propfind xmlns:a=\"DAV:\" xmlns:b=\"DAV:\"><b:prop><a:getetag/></b:prop></a:propfind>",
                    207,
                    holds: ["<D:getetag>{tag}"]),
                // The prefix D has another namespace, so the document contains no known element.
                ask("PROPFIND /a", [], "<D:propfind xmlns:D=\"urn:D\"><D:allprop/></D:propfind>", 422),
                ask("PROPFIND /a", ["Depth: 0", "Content-Type: text/xml"], find("<D:getetag/>"), 207),
                ask(
                    "PROPFIND /a", ["Depth: 0", "Content-Type: application/x-www-form-urlencoded"],
                    find("<D:getetag/>"), 207),
            ]),
        WebDAVExchange(
            "20.6, 16", "document types and entities",
            [
                ask("PUT /a", [], "x", 201),
                ask(
                    "PROPFIND /a", [],
                    "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>" + find("<x:p>&e;</x:p>"), 403,
                    holds: ["<D:error xmlns:D=\"DAV:\"><D:no-external-entities/></D:error>"], lacks: ["root:"]
                ),
                ask(
                    "PROPFIND /a", [],
                    "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]>" + find("<x:p>&b;</x:p>"),
                    400),
                ask(
                    "PROPFIND /a", [], "<!DOCTYPE x SYSTEM \"http://localhost/x.dtd\">" + find("<x:p/>"), 403),
            ]),
        WebDAVExchange(
            "13, 14.16, 14.24, 14.7, 8.3.1",
            "a multistatus is UTF-8 XML with unique, escaped hrefs",
            [
                ask("MKCOL /d", 201), ask("PUT /d/a%20&%C3%A4+%25", [], "x", 201),
                ask(
                    "PROPFIND /d", ["Depth: 1"], 207, ["Content-Type": "application/xml; charset=utf-8"],
                    holds: [
                        "<?xml version=\"1.0\" encoding=\"utf-8\"?><D:multistatus xmlns:D=\"DAV:\">"
                            + "<D:response><D:href>/d/</D:href>",
                        "<D:href>/d/a%20%26%C3%A4%2B%25</D:href>", "</D:multistatus>",
                    ]),
                ask(
                    "PROPFIND /d/a%20&%C3%A4+%25", ["Depth: 0"], 207,
                    holds: [
                        "<D:href>/d/a%20%26%C3%A4+%25</D:href>",
                        "<D:displayname>a &amp;\u{E4}+%</D:displayname>",
                    ]),
            ]),
    ]
}
