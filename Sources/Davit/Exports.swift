// `import Davit` includes everything that an application needs to configure a server and to write handlers.
@_exported public import DavitAccess
@_exported public import DavitHTTP
@_exported public import DavitLogging
@_exported public import DavitMetrics
@_exported public import DavitServer
@_exported public import DavitSite
@_exported public import DavitTransport

@_exported public import struct DavitDiscovery.ServiceAnnouncement
@_exported public import struct DavitEngine.BrokenLock
@_exported public import struct DavitEngine.ShareAction
@_exported public import struct DavitEngine.ShareHooks
@_exported public import struct DavitEngine.TrashLimits
@_exported public import struct DavitEngine.UploadedContent
@_exported public import class DavitFileStore.FileResourceStore
@_exported public import enum DavitFileStore.SyncLevel
@_exported public import struct DavitPage.PageSettings
@_exported public import enum DavitStore.MacMetadataPolicy
@_exported public import struct DavitStore.ShareRules
@_exported public import enum DavitSystem.ServiceManager
@_exported public import struct DavitSystem.SystemError
@_exported public import enum DavitSystem.ThreadPriority
