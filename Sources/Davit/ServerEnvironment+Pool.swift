internal import DavitServer
internal import DavitSite
internal import DavitSystem

extension ServerEnvironment {
    init(publicHosts: [String], pool: BlockingPool, log: Log) {
        self.init(
            work: PoolWork(pool: pool), publicHosts: publicHosts, background: { pool.start($0) },
            log: { severity, message, details in
                switch severity {
                case .error: log.error(message, details)
                case .warning: log.warning(message, details)
                case .info: log.info(message, details)
                }
            })
    }
}
