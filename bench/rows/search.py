"""SEARCH of a whole tree, compared with a PROPFIND of the same tree."""

from servers import Davit

from .base import Request
from .propfind import HEADERS, Infinity

PropFind = Davit.called("PROPFIND")
# Matches a tenth of the names.
QUERY = (b'<?xml version="1.0" encoding="utf-8"?><D:searchrequest xmlns:D="DAV:"><D:basicsearch>'
         b"<D:select><D:prop><D:resourcetype/><D:getcontentlength/><D:getlastmodified/></D:prop></D:select>"
         b"<D:from><D:scope><D:href>/folder/</D:href><D:depth>infinity</D:depth></D:scope></D:from><D:where><D:and>"
         b"<D:like><D:prop><D:displayname/></D:prop><D:literal>%5.txt</D:literal></D:like>"
         b"<D:gte><D:prop><D:getcontentlength/></D:prop><D:literal>100</D:literal></D:gte>"
         b"</D:and></D:where></D:basicsearch></D:searchrequest>")


class Search(Infinity):
    name = "search"
    title = "SEARCH of 20,000 nodes by name and size, with a tenth of them as results, and PROPFIND Depth infinity of the same tree"
    contenders = [Davit, PropFind]
    notes = {}
    floor = PropFind.name

    def requests(self, turn):
        if isinstance(turn.server, PropFind):
            return super().requests(turn)
        found = self.folders * sum(index % 10 == 5 for index in range(self.members // self.folders))
        return [Request("SEARCH", "/folder/", HEADERS, QUERY, statuses=(207,), entries=found)]


ROWS = [Search]
