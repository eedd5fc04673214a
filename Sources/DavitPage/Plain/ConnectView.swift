internal import DavitEngine
internal import DavitServer

/// The address of the folder for other programs, as text and as a QR code.
struct ConnectView {
    let page: PlainPage

    func append(to html: inout HTMLText) {
        guard let address = AddressCode.address(of: page.visit) else { return }
        html.markup("<details class=\"simple-connect\"><summary>")
        html.text(page.strings.text(.connect))
        html.markup("</summary>\n<div>\n")
        html.element("p", page.strings.text(.connectHow))
        html.markup("\n<p><a")
        html.attribute("href", page.base)
        html.markup("><bdi>")
        html.text(address)
        html.markup("</bdi></a></p>\n")
        if AddressCode.isLoopback(page.visit) {
            html.element("p", page.strings.text(.connectLoopback))
            html.markup("\n")
        } else if PageFeature.qr.isAvailable(for: page.visit) {
            // Load the image only when it becomes visible.
            html.markup("<img loading=\"lazy\" width=\"200\" height=\"200\"")
            html.attribute("src", page.base + Array("?qr".utf8))
            html.attribute("alt", page.strings.text(.connectCode))
            html.markup(">\n")
        }
        html.markup("</div></details>\n")
    }
}
