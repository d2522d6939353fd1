"""A headless Chromium driven over the pipe of its DevTools protocol; the standard library only."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page. Use as a context manager; every call raises on a protocol error or after 30 s."""

    def __init__(self, width=1280, height=900, dark=False, calm=True):
        self.size = (width, height)
        self.dark = dark
        self.calm = calm

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="rung-page-")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def place():  # Chromium reads at 3 and writes at 4
            high_in, high_out = os.dup(to_browser), os.dup(from_browser)
            os.dup2(high_in, 3)
            os.dup2(high_out, 4)

        self.process = subprocess.Popen(
            [find_browser(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={self.profile}"],
            preexec_fn=place, close_fds=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.pending = b""
        self.number = 0
        self.session = None
        self.errors = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=self.size[0], height=self.size[1],
                  deviceScaleFactor=1, mobile=False)
        self.emulate(self.dark)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.profile, ignore_errors=True)

    def emulate(self, dark):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if self.calm else "no-preference"}])

    def _message(self, deadline):
        while b"\0" not in self.pending:
            if not select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.read_end, 1 << 20)
            if not data:
                raise EOFError("the browser ended")
            self.pending += data
        message, self.pending = self.pending.split(b"\0", 1)
        message = json.loads(message)
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"].get("text", "") + " " +
                               params["exceptionDetails"].get("exception", {}).get("description", ""))
        if method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        return message

    def call(self, method, **params):
        self.number += 1
        command = {"id": self.number, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.write_end, json.dumps(command).encode() + b"\0")
        deadline = time.monotonic() + 30
        while True:
            message = self._message(deadline)
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description"))
        return result["result"].get("value")

    def open(self, path, fragment=""):
        self.call("Page.navigate", url=f"file://{path}{fragment}")
        deadline = time.monotonic() + 30
        while not self.evaluate("document.readyState === 'complete' && location.protocol === 'file:'"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path} does not load")
            time.sleep(0.02)

    def key(self, name):
        codes = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36,
                 "End": 35, " ": 32, "Tab": 9}
        text = {" ": " "}.get(name, "")
        common = {"key": name, "code": "Space" if name == " " else name,
                  "windowsVirtualKeyCode": codes[name]}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def point(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector):
        box = self.evaluate(f"(() => {{ const b = document.querySelector({json.dumps(selector)})"
                            ".getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left",
                      clickCount=1)

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")
