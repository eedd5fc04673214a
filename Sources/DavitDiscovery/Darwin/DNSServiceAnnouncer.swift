#if canImport(dnssd)
internal import DavitLogging
internal import DavitSystem
internal import dnssd

/// Announces services with mDNSResponder, which selects another name if one is in use. Used by one
/// thread, which it blocks.
final class DNSServiceAnnouncer {
    /// The time until a failed registration is tried again.
    private static let retryNanoseconds: Int64 = 10_000_000_000

    private let context: AnnouncingContext
    private var request: AnnouncementRequest?
    private var requestNumber = 0
    private var registrations: [DNSServiceRegistration] = []
    private var places: [InterfaceSelection.Place] = []
    private var retryTime: Int64?

    init(_ context: AnnouncingContext) { self.context = context }

    /// Carries out requests until the thread has to end. Blocks.
    func run() {
        while true {
            switch context.thread.step {
            case .carryOut(let wanted, let number):
                if number != requestNumber {
                    withdraw()
                    (request, requestNumber) = (wanted, number)
                    register()
                }
            case .withdraw: withdraw()
            case .end: return withdraw()
            }
            var milliseconds: Int32 = -1
            if let retryTime {
                milliseconds = Int32(clamping: max(0, retryTime - Clock.now()) / 1_000_000 + 1)
            }
            let count = context.thread.queue.wait(milliseconds: milliseconds)
            for index in 0..<count {
                let token = context.thread.queue.event(at: index).token
                if token < UInt64(registrations.count) { process(registrations[Int(token)]) }
            }
            if let retryTime, Clock.now() >= retryTime { register() }
        }
    }

    private func process(_ registration: DNSServiceRegistration) {
        let wasKnown = registration.name != nil
        let code = registration.process()
        if code != 0 { return fail(code) }
        if !wasKnown, registration === registrations.first, let name = registration.name {
            context.announced(as: name, on: places)
        }
    }

    private func register() {
        guard let request else { return }
        release()
        retryTime = nil
        // The system selects the interfaces, unless the server listens only on some.
        let isEverywhere = request.interfaces.isEmpty && request.addresses.contains { $0.isUnspecified }
        places = isEverywhere ? [] : request.selection.places(among: context.interfaces())
        let indexes = isEverywhere ? [0] : places.map(\.index)
        for service in request.services {
            for index in indexes {
                let registration = DNSServiceRegistration()
                let code = registration.register(service, on: index)
                if code != 0 { return fail(code) }
                try? context.thread.queue.watchAccepting(
                    registration.descriptor, token: UInt64(registrations.count))
                registrations.append(registration)
            }
        }
    }

    private func fail(_ code: Int32) {
        release()
        context.log.warning(
            "server not announced: mDNSResponder has refused it; retrying", ["code": "\(code)"])
        retryTime = Clock.now() + Self.retryNanoseconds
    }

    private func release() {
        for registration in registrations { context.thread.queue.unwatch(registration.descriptor) }
        registrations = []
    }

    private func withdraw() {
        release()
        request = nil
        retryTime = nil
    }
}

/// A service that is registered with mDNSResponder, until it is released. Used by one thread.
@safe final class DNSServiceRegistration {
    private var service: DNSServiceRef?
    /// The registered name, which can have a number; nil until the system has reported it.
    private(set) var name: String?
    private var code: Int32 = 0

    deinit { if let service = unsafe service { unsafe DNSServiceRefDeallocate(service) } }

    /// The socket that becomes readable when there is something to process.
    var descriptor: Int32 {
        guard let service = unsafe service else { return -1 }
        return unsafe DNSServiceRefSockFD(service)
    }

    /// Begins to register a service.
    /// - Parameter index: of an interface; 0 for all.
    /// - Returns: 0, or the error code of the system.
    func register(_ announced: AnnouncedService, on index: UInt32) -> Int32 {
        var record: [UInt8] = []
        for property in announced.properties {
            record.append(UInt8(truncatingIfNeeded: property.utf8.count))
            record += property.utf8
        }
        // Not retained: the callback is only called in `process()`.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        return unsafe DNSServiceRegister(
            &service, 0, index, announced.name, announced.type, nil, nil, announced.port.bigEndian,
            UInt16(truncatingIfNeeded: record.count), record,
            { _, _, code, name, _, _, context in
                guard let context = unsafe context else { return }
                let registration = unsafe Unmanaged<DNSServiceRegistration>.fromOpaque(context)
                    .takeUnretainedValue()
                registration.code = code
                if code == 0, let name = unsafe name { registration.name = unsafe String(cString: name) }
            }, context)
    }

    /// Processes a reply, which must have arrived.
    /// - Returns: 0, or the error code of the system.
    func process() -> Int32 {
        guard let service = unsafe service else { return 0 }
        let result = unsafe DNSServiceProcessResult(service)
        return result != 0 ? result : code
    }
}
#endif
