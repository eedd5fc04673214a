// Programs that use stub servers need no other import.
@_exported public import Davit
