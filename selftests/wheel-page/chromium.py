# SPDX-License-Identifier: GPL-2.0
# A headless Chromium, by its DevTools protocol on a pair of pipes.
import json
import os
import subprocess
import tempfile


class Chromium:
    def __init__(self):
        self.profile = tempfile.TemporaryDirectory()
        ours, theirs = os.pipe(), os.pipe()
        # It reads commands on descriptor 3 and writes what it says on 4. Root has no sandbox.
        shell = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "-", str(ours[0]), str(theirs[1]), "chromium", "--headless",
             "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--remote-debugging-pipe", "--user-data-dir=" + self.profile.name, "about:blank"],
            pass_fds=(ours[0], theirs[1]), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.to = os.fdopen(ours[1], "wb", 0)
        self.said = os.fdopen(theirs[0], "rb")
        self.last = 0
        self.rest = b""
        self.events = []
        self.session = None
        pages = self.call("Target.getTargets")["targetInfos"]
        page = next(info["targetId"] for info in pages if info["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime"):
            self.call(domain + ".enable")

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.said.fileno(), 1 << 16)
            if not more:
                raise EOFError("Chromium has ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.last += 1
        command = {"id": self.last, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        self.to.write(json.dumps(command).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") != self.last:
                self.events.append(message)
            elif "error" in message:
                raise RuntimeError(method + ": " + message["error"]["message"])
            else:
                return message["result"]

    def open(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())

    def run(self, expression):
        """The value of an expression in the page, of a promise when it is kept."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")

    def mistakes(self):
        """The exceptions that the page has thrown."""
        return [event["params"]["exceptionDetails"]["exception"]["description"]
                for event in self.events if event["method"] == "Runtime.exceptionThrown"]

    def press(self, key, shift=False):
        """Presses a key that has a name, or the space."""
        number = {"Tab": 9, "Enter": 13, " ": 32, "ArrowUp": 38, "ArrowDown": 40}[key]
        text = {"Enter": "\r", " ": " "}.get(key)
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key.replace(" ", "Space"),
                      windowsVirtualKeyCode=number, modifiers=8 if shift else 0,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def tab(self, shift=False):
        self.press("Tab", shift)

    def write(self, text):
        """Types over the text of a field, which Tab has selected."""
        for letter in text:
            for kind in ("keyDown", "keyUp"):
                self.call("Input.dispatchKeyEvent", type=kind, key=letter,
                          windowsVirtualKeyCode=ord(letter.upper()),
                          **({"text": letter} if kind == "keyDown" else {}))

    def screen(self, width, height, dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def close(self):
        self.call("Browser.close")
        self.process.wait()
        self.profile.cleanup()
