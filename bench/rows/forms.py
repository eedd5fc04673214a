"""A large file in a form, compared with the same file in a PUT; both are sent by curl."""

import os
import subprocess

from client import HOST, WrongAnswer
from servers import Davit, Uploads

from .base import GIB, Row, write_pattern


class FormUpload(Row):
    name = "up-form"
    title = "1 GiB in a form (multipart/form-data), and with PUT"
    unit = "s/GiB"
    scale = 1
    kind = "write"
    figures = ("over_idle",)
    contenders = [Davit, Uploads]
    size = GIB

    def unavailable(self, setup):
        if not os.access(Uploads.program(setup), os.X_OK):
            return "Examples/Uploads is not built: swift build -c release --product Uploads"

    def before(self, turn):
        self.source = os.path.join(turn.setup.memory, "form-source.bin")
        if not os.path.exists(self.source):
            write_pattern(self.source, self.size, turn.setup)

    def run(self, turn):
        url = f"http://{HOST}:{turn.port}/"
        if isinstance(turn.server, Uploads):
            command = ["curl", "-sS", "-F", f"files=@{self.source};filename=large.bin", url]
        else:
            command = ["curl", "-sS", "-T", self.source, url + "large.bin"]
        command += ["-o", os.path.join(turn.server.state, "answer"), "-w", "%{http_code}"]
        status = turn.metered(lambda: subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        if status != b"201":
            raise WrongAnswer(f"the upload returned {status.decode()}")
        return self.size / GIB

    def after(self, turn):
        path = os.path.join(turn.root, "large.bin")
        if subprocess.run(["cmp", "-s", path, self.source], check=False).returncode:
            raise WrongAnswer("the stored file differs from the file that was sent")
        os.remove(path)


ROWS = [FormUpload]
