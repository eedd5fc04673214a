"""Resumable uploads: their cost compared with a PUT of the same content, which is the row `up1`."""

from client import WrongAnswer, ask

from .base import Davit, Request
from .large import Upload


class Resumable(Upload):
    name = "up1-resumable"
    title = "PATCH 1 GiB, the whole content of a resumable upload"
    contenders = [Davit]
    notes = {"others": "have no resumable uploads; `up1` is the same content in a PUT"}

    def before(self, turn):
        status, fields, _ = ask(turn.port, "PUT", "/large-00000.bin", b"", {
            "Upload-Complete": "?0", "Upload-Length": str(self.size)})
        if status != 201:
            raise WrongAnswer(f"the upload returned {status}")
        self.upload = fields["Location"]

    def requests(self, turn):
        return [Request("PATCH", self.upload, generated=self.size, statuses=(201,), headers={
            "Content-Type": "application/partial-upload", "Upload-Offset": "0", "Upload-Complete": "?1"})]


ROWS = [Resumable]
