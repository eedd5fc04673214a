// Programs that use stub servers need no other import.
@_exported public import Davit

@_exported public import struct DavitSQLite.JSONMember
@_exported public import enum DavitSQLite.JSONValue
