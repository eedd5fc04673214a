"""The compared servers: each serves one folder on loopback, without users and without an access log."""

from .apache import Apache, BusyApache
from .davit import Davit
from .floor import Floor
from .lighttpd import Lighttpd, SingleLighttpd
from .nginx import Nginx
from .rclone import Rclone
from .uploads import Uploads

__all__ = ["Apache", "BusyApache", "Davit", "Floor", "Lighttpd", "Nginx", "Rclone", "SingleLighttpd", "Uploads"]
