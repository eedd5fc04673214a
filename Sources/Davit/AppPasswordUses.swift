internal import DavitAccounts
internal import DavitLogging
internal import DavitServer
internal import DavitSystem
internal import Synchronization

/// Records the uses of app passwords in the database, and ends requests whose password has expired. Both happen during
/// maintenance, so that requests do not wait for it.
final class AppPasswordUses: LifecycleObserver {
    private let directory: AccountDirectory
    private let log: Log
    /// When the expiring passwords that were used expire, by their credential numbers.
    private let expiries = Mutex<[UInt64: Int64]>([:])
    private let end = Mutex<@Sendable (Set<UInt64>) -> Void>({ _ in })

    init(_ directory: AccountDirectory, log: Log) {
        self.directory = directory
        self.log = log
    }

    /// The current time in seconds since 1970.
    static var seconds: Int64 { Clock.wallNow() / 1_000_000_000 }

    var services: AppPasswordServices {
        AppPasswordServices(seconds: { Self.seconds }, didUse: { [weak self] in self?.record($0) })
    }

    /// Sets the action that ends the requests in flight with one of these credential numbers.
    func onExpiry(_ action: @escaping @Sendable (Set<UInt64>) -> Void) { end.withLock { $0 = action } }

    private func record(_ use: AppPasswordUse) {
        directory.recordUse(
            account: use.account, id: use.id,
            StoredAppPassword.Use(time: Self.seconds, address: use.address))
        if let expiry = use.expiry { expiries.withLock { $0[use.number] = expiry } }
    }

    func performMaintenance() -> Bool {
        let isStored = store()
        let now = Self.seconds
        let (expired, isNeededAgain) = expiries.withLock { expiries in
            let expired = expiries.filter { $0.value <= now }.map(\.key)
            for number in expired { expiries[number] = nil }
            return (Set(expired), !expiries.isEmpty)
        }
        if !expired.isEmpty { end.withLock { $0 }(expired) }
        return isNeededAgain || !isStored
    }

    func serverWillStop() { _ = store() }

    private func store() -> Bool {
        do throws(AccountError) {
            try directory.storeUses()
            return true
        } catch {
            log.warning("last use of app passwords not recorded", ["reason": error.text])
            return false
        }
    }
}
