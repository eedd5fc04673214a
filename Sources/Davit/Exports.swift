// What an app needs to write handlers and to configure a server comes with `import Davit`.
@_exported public import DavitHTTP
@_exported public import DavitServer
@_exported public import DavitSite
@_exported public import DavitTransport

@_exported public import class DavitFileStore.FileResourceStore
@_exported public import enum DavitFileStore.SyncLevel
@_exported public import struct DavitSystem.Log
@_exported public import struct DavitSystem.SystemError
