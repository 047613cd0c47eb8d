# SPDX-License-Identifier: MIT
"""A headless Chromium that tests and scripts drive over a pipe with the DevTools protocol; standard library only."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome-headless-shell")
# Without a sandbox, as root in a container has none; nothing but pages of the project is opened.
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe")


def find():
    """The path of the first program that is there, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Failure(Exception):
    pass


class PageLeft(Failure):
    """The page was left for another one before an expression in it had a value."""


# What Chromium says of a page that was left.
LEFT = ("navigated or closed", "context was destroyed", "Cannot find context")


class Browser:
    """One page in one browser. Use as a context."""

    def __init__(self, width=1200, height=700, timeout=60):
        self.width, self.height, self.timeout = width, height, timeout
        self.profile = tempfile.TemporaryDirectory(prefix="lockstep-page-", ignore_cleanup_errors=True)
        # The browser reads commands from its file 3, and writes answers to its file 4.
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()

        def connect():
            # Duplicates above 4 first, lest one of the two takes the other's place.
            there = fcntl.fcntl(commands, fcntl.F_DUPFD, 5)
            back = fcntl.fcntl(answers, fcntl.F_DUPFD, 5)
            os.dup2(there, 3)
            os.dup2(back, 4)
            os.close(there)
            os.close(back)

        self.process = subprocess.Popen(
            [find(), *FLAGS, f"--user-data-dir={self.profile.name}", f"--window-size={width},{height}", "about:blank"],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.received = b""
        self.events = []
        self.count = 0
        self.session = None

    def __enter__(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=self.width, height=self.height, deviceScaleFactor=1,
                  mobile=False)
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
        except (Failure, OSError):
            self.process.kill()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.profile.cleanup()

    # --- the protocol: JSON, each message ended by a zero byte ---

    def receive(self, deadline):
        while b"\0" not in self.received:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise Failure("Chromium does not answer")
            piece = os.read(self.answers, 1 << 20)
            if not piece:
                raise Failure("Chromium has ended")
            self.received += piece
        message, _, self.received = self.received.partition(b"\0")
        return json.loads(message)

    def call(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + self.timeout
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.count:
                if "error" in answer:
                    text = answer["error"]["message"]
                    raise (PageLeft if any(each in text for each in LEFT) else Failure)(f"{method}: {text}")
                return answer["result"]
            self.events.append(answer)

    # --- what a user does and sees ---

    def open(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + self.timeout
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive(deadline))

    def evaluate(self, expression):
        """The value of an expression in the page; a promise is awaited."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise Failure(f"{expression}: {result['exceptionDetails']['exception'].get('description')}")
        return result["result"].get("value")

    seconds = 20  # how long until() looks, where it is not told

    def until(self, expression, seconds=None):
        """The value of an expression as soon as it is true, in this page or in the next one; None if it never is."""
        end = time.monotonic() + (self.seconds if seconds is None else seconds)
        while time.monotonic() < end:
            try:
                value = self.evaluate(expression)
            except PageLeft:
                continue
            if value:
                return value
            time.sleep(0.05)
        return None

    def next_frame(self):
        """Waits until the page has painted what it was told to."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, x, x2, y, modifiers=0):
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1, modifiers=modifiers)
        self.mouse("mouseMoved", x2, y, button="left", buttons=1, modifiers=modifiers)
        self.mouse("mouseReleased", x2, y, button="left", clickCount=1, modifiers=modifiers)
        self.next_frame()

    def wheel(self, x, y, delta):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=delta)
        self.next_frame()

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.next_frame()

    def complaints(self):
        """Exceptions, and errors that the page logged or caused."""
        self.evaluate("0")  # what came before it has arrived
        found = []
        for event in self.events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
            if event.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
                found.append(params["entry"]["text"])
        return found

    def screenshot(self, clip=None):
        """PNG; clip is (x, y, width, height)."""
        more = {"clip": dict(zip(("x", "y", "width", "height"), clip), scale=1)} if clip else {}
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", **more)["data"])

    def pixels(self, clip=None):
        """The rows of a screenshot, each a list of (red, green, blue). The page decodes it."""
        png = base64.b64encode(self.screenshot(clip)).decode()
        width, colours = self.evaluate(f"""(async () => {{
          const bytes = Uint8Array.from(atob("{png}"), (each) => each.charCodeAt(0));
          const picture = await createImageBitmap(new Blob([bytes]), {{colorSpaceConversion: "none"}});
          const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
          canvas.drawImage(picture, 0, 0);
          const data = canvas.getImageData(0, 0, picture.width, picture.height).data;
          return [picture.width, [...new Uint32Array(data.buffer)]];
        }})()""")
        rows = range(0, len(colours), width)
        return [[(each & 255, each >> 8 & 255, each >> 16 & 255) for each in colours[row:row + width]] for row in rows]
