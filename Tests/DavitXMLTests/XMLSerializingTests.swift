import DavitXML
import Testing

struct XMLSerializingTests {
    /// Documents whose only `v` element, in any namespace, is serialized.
    static let values: [(document: String, element: String)] = [
        ("<p><v/></p>", #"<v xmlns=""/>"#),
        ("<p><v></v></p>", #"<v xmlns=""/>"#),
        ("<p><v> </v></p>", #"<v xmlns=""> </v>"#),
        // RFC 4918 §4.3: prefixes are preserved and declared in the value.
        ("<D:p xmlns:D='DAV:'><D:v/></D:p>", #"<D:v xmlns:D="DAV:"/>"#),
        ("<p xmlns='DAV:'><v/></p>", #"<v xmlns="DAV:"/>"#),
        ("<p xmlns='DAV:'><v xmlns=''>x</v></p>", #"<v xmlns="">x</v>"#),
        ("<p xmlns='DAV:'><v xmlns=''><w/></v></p>", #"<v xmlns=""><w/></v>"#),
        ("<p xmlns='a'><x:v xmlns:x='b'><w/></x:v></p>", #"<x:v xmlns:x="b" xmlns="a"><w/></x:v>"#),
        (
            "<p xmlns:y='c'><x:v xmlns:x='b'><y:w y:z='1'/></x:v></p>",
            #"<x:v xmlns:x="b" xmlns:y="c"><y:w y:z="1"/></x:v>"#
        ),
        ("<p xmlns:x='a'><x:v xmlns:x='b'/></p>", #"<x:v xmlns:x="b"/>"#),
        (
            "<x:p xmlns:x='a'><x:v><x:w xmlns:x='b'/></x:v></x:p>",
            #"<x:v xmlns:x="a"><x:w xmlns:x="b"/></x:v>"#
        ),
        // Two prefixes for one namespace are preserved.
        (
            "<p xmlns:x='a' xmlns:y='a'><x:v><y:w/></x:v></p>",
            #"<x:v xmlns:x="a" xmlns:y="a"><y:w/></x:v>"#
        ),
        // Unused namespace declarations inside the value are preserved; those outside are omitted.
        ("<p xmlns:x='a'><v xmlns='b' xmlns:y='c'/></p>", #"<v xmlns="b" xmlns:y="c"/>"#),
        // A prefix that may be part of a qualified name is kept, with its nearest declaration.
        ("<p xmlns:x='a'><v xmlns='b'>x:name</v></p>", #"<v xmlns="b" xmlns:x="a">x:name</v>"#),
        (
            "<p xmlns:x='a'><q xmlns:x='b'><v xmlns=''><w y='(x:z)'/></v></q></p>",
            #"<v xmlns="" xmlns:x="b"><w y="(x:z)"/></v>"#
        ),
        (
            "<p xmlns:x='a'><v xmlns='b'><![CDATA[x:y]]></v></p>",
            #"<v xmlns="b" xmlns:x="a"><![CDATA[x:y]]></v>"#
        ),
        ("<p xmlns:x='a'><v xmlns='b'>ax: xa:b x :</v></p>", #"<v xmlns="b">ax: xa:b x :</v>"#),
        // §4.3: xml:lang in scope becomes an attribute; the nearest one applies, and "" means no language.
        ("<p xml:lang='en'><q xml:lang='de'><v xmlns='b'/></q></p>", #"<v xmlns="b" xml:lang="de"/>"#),
        ("<p xml:lang='en'><v xmlns='b' xml:lang='fr'/></p>", #"<v xmlns="b" xml:lang="fr"/>"#),
        ("<p xml:lang='en'><q xml:lang=''><v xmlns='b'/></q></p>", #"<v xmlns="b"/>"#),
        ("<p xml:lang='en'><v xmlns='b' xml:lang=''/></p>", #"<v xmlns="b" xml:lang=""/>"#),
        ("<p xml:lang='a&quot;&lt;&amp;'><v xmlns='b'/></p>", #"<v xmlns="b" xml:lang="a&quot;&lt;&amp;"/>"#),
        // Mixed content, comments, CDATA sections and processing instructions are preserved in place.
        (
            "<p><v xmlns='b'> a <w> b\n</w>\tc<!-- d - e --><?f g?><![CDATA[<h>&]]>i</v></p>",
            "<v xmlns=\"b\"> a <w> b\n</w>\tc<!-- d - e --><?f g?><![CDATA[<h>&]]>i</v>"
        ),
        // Characters are preserved.
        (
            "<p><v xmlns='b'>&lt;&gt;&amp;&quot;&apos;&#13;\u{E9}\u{1F600}\u{85}</v></p>",
            "<v xmlns=\"b\">&lt;&gt;&amp;\"'&#13;\u{E9}\u{1F600}\u{85}</v>"
        ),
        (
            "<p><v xmlns='b' c='&quot;&apos;&#9;&#10;&#13;&lt;\u{E9}' d=' e '/></p>",
            "<v xmlns=\"b\" c=\"&quot;'&#9;&#10;&#13;&lt;\u{E9}\" d=\" e \"/>"
        ),
        ("<p><v xmlns='b?c&amp;d&#38;e>'/></p>", #"<v xmlns="b?c&#38;d&#38;e>"/>"#),
        ("<p><v xmlns='b&quot;'/></p>", "<v xmlns='b\"'/>"),
        ("<p><v xmlns='b&quot;&apos;'/></p>", "<v xmlns=\"b&quot;'\"/>"),
        // Attributes keep their order.
        (
            "<p><v xmlns='b' z='1' a='2' xml:space='preserve'/></p>",
            #"<v xmlns="b" z="1" a="2" xml:space="preserve"/>"#
        ),
    ]

    static func value(in element: XMLElement) -> XMLElement? {
        if element.local == "v" { return element }
        for child in element.children {
            if let found = value(in: child) { return found }
        }
        return nil
    }

    @Test(arguments: values)
    func serializedValueIsPreserved(document: String, element: String) throws {
        let value = try #require(Self.value(in: try XMLDocument.parse(Array(document.utf8)).root))
        #expect(String(decoding: value.serializedSelfContained(), as: UTF8.self) == element)
        // Serializing the value again returns the same bytes, even after the result is parsed alone or inside
        // another document.
        #expect(String(decoding: value.serializedSelfContained(), as: UTF8.self) == element)
        for surroundings in [
            ("", ""), ("<D:x xmlns:D='DAV:'>", "</D:x>"), ("<x xmlns='other' xmlns:x='y'>", "</x>"),
        ] {
            let other = Array((surroundings.0 + element + surroundings.1).utf8)
            let again = try #require(Self.value(in: try XMLDocument.parse(other).root))
            #expect(again.namespace == value.namespace && again.text == value.text)
            if surroundings.0.isEmpty {
                #expect(String(decoding: again.serializedSelfContained(), as: UTF8.self) == element)
            }
        }
    }

    @Test func utf16IsSerializedAsUTF8() throws {
        let document = "\u{FEFF}<v xmlns='b' c='\u{E9}'>\u{1F600}</v>".utf16.flatMap {
            [UInt8($0 & 0xFF), UInt8($0 >> 8)]
        }
        let value = try XMLDocument.parse(document).root.serializedSelfContained()
        #expect(String(decoding: value, as: UTF8.self) == "<v xmlns=\"b\" c=\"\u{E9}\">\u{1F600}</v>")
    }
}
