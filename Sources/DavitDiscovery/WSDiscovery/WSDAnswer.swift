internal import DavitXML

/// Writes the messages of a device.
struct WSDWriter {
    /// The action of a message, and what its body contains.
    enum Message: Hashable, Sendable {
        case hello(urls: [String])
        case bye
        case probeMatches(urls: [String], request: String)
        case resolveMatches(urls: [String], request: String)
        /// - presentation: the URL that Windows opens in the browser.
        case metadata(presentation: String, request: String)
    }

    private static let anonymous = "\(WSDNames.addressing)/role/anonymous"
    private static let everyone = "urn:schemas-xmlsoap-org:ws:2005:04:discovery"

    let device: WSDDevice
    /// Increased with each datagram (WS-Discovery §7).
    private var number: UInt32 = 0

    init(_ device: WSDDevice) { self.device = device }

    /// Returns a message with a new identifier.
    mutating func write(_ message: Message, id: String = UUIDText.random()) -> [UInt8] {
        let output = XMLOutput()
        output.markup(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope" \
            xmlns:wsa="http://schemas.xmlsoap.org/ws/2004/08/addressing" \
            xmlns:wsd="http://schemas.xmlsoap.org/ws/2005/04/discovery" \
            xmlns:wsdp="http://schemas.xmlsoap.org/ws/2006/02/devprof"><soap:Header>
            """)
        let (action, request): (String, String?) =
            switch message {
            case .hello: ("\(WSDNames.discovery)/Hello", nil)
            case .bye: ("\(WSDNames.discovery)/Bye", nil)
            case .probeMatches(_, let request): ("\(WSDNames.discovery)/ProbeMatches", request)
            case .resolveMatches(_, let request): ("\(WSDNames.discovery)/ResolveMatches", request)
            case .metadata(_, let request): (WSDNames.get + "Response", request)
            }
        output.element("wsa:", "To", escaped: Array((request == nil ? Self.everyone : Self.anonymous).utf8))
        output.element("wsa:", "Action", escaped: Array(action.utf8))
        output.element("wsa:", "MessageID", escaped: Array("urn:uuid:\(id)".utf8))
        if let request { output.element("wsa:", "RelatesTo", escaped: Array(request.utf8)) }
        if case .metadata = message {
        } else {
            number &+= 1
            output.markup("<wsd:AppSequence InstanceId=\"")
            output.escaped("\(device.instance)")
            output.markup("\" MessageNumber=\"")
            output.escaped("\(number)")
            output.markup("\"/>")
        }
        output.markup("</soap:Header><soap:Body>")
        body(of: message, output)
        output.markup("</soap:Body></soap:Envelope>")
        return output.drain()
    }

    private func body(of message: Message, _ output: XMLOutput) {
        switch message {
        case .hello(let urls):
            output.markup("<wsd:Hello>")
            target(urls, output)
            output.markup("</wsd:Hello>")
        case .bye:
            output.markup("<wsd:Bye>")
            reference(output)
            output.markup("</wsd:Bye>")
        case .probeMatches(let urls, _):
            output.markup("<wsd:ProbeMatches><wsd:ProbeMatch>")
            target(urls, output)
            output.markup("</wsd:ProbeMatch></wsd:ProbeMatches>")
        case .resolveMatches(let urls, _):
            output.markup("<wsd:ResolveMatches><wsd:ResolveMatch>")
            target(urls, output)
            output.markup("</wsd:ResolveMatch></wsd:ResolveMatches>")
        case .metadata(let presentation, _): metadata(presentation, output)
        }
    }

    private func reference(_ output: XMLOutput) {
        output.markup("<wsa:EndpointReference>")
        output.element("wsa:", "Address", escaped: Array(device.address.utf8))
        output.markup("</wsa:EndpointReference>")
    }

    private func target(_ urls: [String], _ output: XMLOutput) {
        reference(output)
        output.markup("<wsd:Types>wsdp:Device</wsd:Types>")
        output.element("wsd:", "XAddrs", escaped: Array(urls.joined(separator: " ").utf8))
        output.markup("<wsd:MetadataVersion>1</wsd:MetadataVersion>")
    }

    /// The metadata of the Devices Profile §5, and the category with which Windows lists the device (PnP-X). Devices without a
    /// category are not listed, and a computer would be opened over SMB instead of in the browser.
    private func metadata(_ presentation: String, _ output: XMLOutput) {
        output.markup("<wsx:Metadata xmlns:wsx=\"http://schemas.xmlsoap.org/ws/2004/09/mex\">")
        output.markup(
            """
            <wsx:MetadataSection Dialect="http://schemas.xmlsoap.org/ws/2006/02/devprof/ThisDevice"><wsdp:ThisDevice>
            """)
        output.element("wsdp:", "FriendlyName", escaped: Array(device.name.utf8))
        output.element("wsdp:", "FirmwareVersion", escaped: Array(device.version.utf8))
        output.element("wsdp:", "SerialNumber", escaped: Array(device.path.dropFirst().utf8))
        output.markup("</wsdp:ThisDevice></wsx:MetadataSection>")
        output.markup(
            """
            <wsx:MetadataSection Dialect="http://schemas.xmlsoap.org/ws/2006/02/devprof/ThisModel"><wsdp:ThisModel>\
            <wsdp:Manufacturer>davit</wsdp:Manufacturer><wsdp:ModelName>davit</wsdp:ModelName>
            """)
        output.element("wsdp:", "ModelNumber", escaped: Array(device.version.utf8))
        output.element("wsdp:", "PresentationUrl", escaped: Array(presentation.utf8))
        output.markup(
            """
            <pnpx:DeviceCategory xmlns:pnpx="http://schemas.microsoft.com/windows/pnpx/2005/10">Storage.NAS\
            </pnpx:DeviceCategory></wsdp:ThisModel></wsx:MetadataSection>\
            <wsx:MetadataSection Dialect="http://schemas.xmlsoap.org/ws/2006/02/devprof/Relationship">\
            <wsdp:Relationship Type="http://schemas.xmlsoap.org/ws/2006/02/devprof/host"><wsdp:Host>
            """)
        reference(output)
        output.markup("<wsdp:Types>wsdp:Device</wsdp:Types>")
        output.element("wsdp:", "ServiceId", escaped: Array(device.address.utf8))
        output.markup("</wsdp:Host></wsdp:Relationship></wsx:MetadataSection></wsx:Metadata>")
    }
}
