internal import DavitLogging
internal import DavitServer
internal import DavitSite
internal import DavitSystem

extension ServerEnvironment {
    init(
        publicHosts: [String], publicAuthorities: [String], securePublicHosts: [String],
        pageOrigins: [String], storage: DiskStorage, pool: BlockingPool, log: Log
    ) {
        let work = PooledWorkRunner(pool: pool)
        self.init(
            work: work, publicHosts: publicHosts, publicAuthorities: publicAuthorities,
            securePublicHosts: securePublicHosts, pageOrigins: pageOrigins,
            temporaryFiles: TemporaryFiles(storage: storage, work: work), background: { pool.start($0) },
            log: { severity, message, details in
                switch severity {
                case .error: log.error(message, details)
                case .warning: log.warning(message, details)
                case .info: log.info(message, details)
                }
            })
    }
}
