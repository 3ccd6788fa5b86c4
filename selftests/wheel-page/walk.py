#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
# Opens the page of tools/wheel-page in a headless Chromium, from a file, and tests that it shows
# what the same C says natively, can be used by keyboard alone, and fits a telephone. One TAP line
# each; the last line is "N passed, N failed".
#
#   walk.py PAGE COMPARE SEED        (COMPARE is the program that compare.c is)
import itertools
import pathlib
import signal
import subprocess
import sys
import traceback

from chromium import Chromium

# Does what compare.c does, by the functions that the controls call. Returns for each scheme the
# table of costs, the timers that have fired, and the verdict, as its panel shows them.
SCENARIO = """(() => {
    beginAgain(64, SEED);
    setTimers(1000, () => 1 + wheel.wheel_random(2000));
    for (let i = 0; i < 400; i++) {
        chosen = wheel.wheel_random(TIMERS);
        if (!wheel.wheel_pending(chosen))
            continue;
        if (i % 2) {
            DO.cancel();
        } else {
            element("to").value = 1 + wheel.wheel_random(2000);
            DO.move();
        }
    }
    wheel.wheel_pair(3000);
    for (let i = 0; i < 500; i++)
        DO.tick();
    setTimers(100, () => 1 + wheel.wheel_random(2000));
    element("distance").value = 250;
    DO.jump();
    for (let i = 0; i < 2000; i++)
        DO.tick();
    show();
    return schemes.map(scheme => {
        const panel = panels[0], select = panel.select;
        select.value = scheme.k;
        select.dispatchEvent(new Event("change"));
        return {
            name: scheme.name + (scheme.variant ? ":" + scheme.variant : ""),
            costs: Array.from(panel.rows.rows, row =>
                Array.from(row.cells, cell => cell.textContent).slice(2).join(" ")),
            pair: wheel.wheel_cost(scheme.k, PAIR, LAST),
            fired: scheme.fired.map(([timer, tick, late]) => timer + "@" + tick + "+" + late),
            said: panel.fired.textContent,
            verdict: panel.verdict.textContent,
        };
    });
})()"""

# Expressions that the tests read.
NOW = "Number(element('now').value)"
COUNT = "pending().length"
FOCUS = "document.activeElement.id || document.activeElement.textContent"
# Whether the focus is seen: within the window, and not below the bar.
SEEN = """(() => {
    const at = document.activeElement.getBoundingClientRect(), bar = element("bar");
    return document.activeElement.matches(":focus-visible") && at.bottom <= innerHeight + 1 &&
        (bar.contains(document.activeElement) || at.top >= bar.getBoundingClientRect().bottom - 1 ||
         at.bottom <= bar.getBoundingClientRect().top + 1);
})()"""


class Walk:
    def __init__(self, browser, page, compare, seed):
        self.browser = browser
        self.page = pathlib.Path(page).resolve().as_uri()
        self.compare = compare
        self.seed = seed

    def open(self, width=1200, height=900, dark=False):
        self.browser.screen(width, height, dark)
        self.browser.open(self.page)
        self.run("code.then(() => new Promise(done => requestAnimationFrame(done)))")

    def run(self, expression):
        return self.browser.run(expression)

    def equal(self, expression, wanted):
        value = self.run(expression)
        assert value == wanted, f"{expression} is {value!r}, not {wanted!r}"

    def tab(self, wanted, shift=False):
        """Presses the key until the element of this id has the focus, which each has seen."""
        for _ in range(60):
            self.browser.tab(shift)
            assert self.run(SEEN), f"the focus on {self.run(FOCUS)} is not seen"
            if self.run(FOCUS) == wanted:
                return
        raise AssertionError(f"no key leads to {wanted}")

    # The page shows what the same C says natively.
    def same_as_native(self):
        said = subprocess.run([self.compare, str(self.seed)], check=True, capture_output=True,
                              text=True).stdout.splitlines()
        self.open()
        shown = self.run(SCENARIO.replace("SEED", str(self.seed)))
        assert len(said) == len(shown) > 20, f"{len(said)} and {len(shown)} schemes"
        for line, page in zip(said, shown):
            native, fired = line.split("|")
            name, *costs, pair = native.split("; ")
            assert name == page["name"], f"{name} and {page['name']}"
            for mine, other in itertools.zip_longest(costs, page["costs"]):
                # The scheme does not count this.
                if other == "– – –":
                    other = "0 0.0 0"
                assert mine == other, f"{name} costs {mine}, and the page says {other}"
            assert int(pair) == page["pair"], f"{name}: a pair costs {pair}, or {page['pair']}"
            fired = fired.split()
            assert fired == page["fired"], f"{name}: {fired}, and the page says {page['fired']}"
            late = [int(one.split("+")[1]) for one in fired if not one.endswith("+0")]
            verdict = f"✓ The model agrees: of {len(fired)} none early, "
            if late:
                verdict += f"{len(late)} late by design, by up to {max(late)} ticks."
            else:
                verdict += "none late, all in order."
            assert page["verdict"] == verdict, f"{name}: {page['verdict']}, not {verdict}"
            tick = fired[-1].split("@")[1].split("+")[0]
            first = next(one for one in fired if f"@{tick}+" in one).split("@")[0]
            assert page["said"].startswith(f"0 timers. At tick {tick}: #{first}"), page["said"]
        assert sum("late by" in page["verdict"] for page in shown) == 2, "none is late by design"

    # Each control is used by the keys that a keyboard user presses, and its effect is shown.
    def keyboard(self):
        self.open()
        before = self.run(COUNT)
        self.tab("tick")
        self.browser.press("Enter")
        self.equal(NOW, 1)
        self.tab("next")
        self.browser.press("Enter")
        self.equal(f"{NOW} > 1", True)
        self.tab("set")
        count = self.run(COUNT)
        assert count < before, "none has fired"
        self.browser.press(" ")
        self.equal(COUNT, count + 10)
        self.tab("many")
        self.browser.write("3")
        self.tab("how")
        self.browser.press("ArrowDown")
        self.tab("ahead")
        self.browser.write("77")
        self.tab("set", shift=True)
        self.browser.press("Enter")
        self.equal(COUNT, count + 13)
        self.equal(f"pending().filter(timer => timer.due === {NOW} + 77).length >= 3", True)
        self.tab("timers")
        was = self.run("chosen")
        self.browser.press("ArrowUp")
        timer = self.run("chosen")
        assert timer != was, "no other timer is chosen"
        self.tab("move")
        self.tab("to")
        self.browser.write("555")
        self.tab("move", shift=True)
        self.browser.press("Enter")
        self.equal(f"wheel.wheel_expires({timer}) - {NOW}", 555)
        self.tab("cancel", shift=True)
        self.browser.press("Enter")
        self.equal(f"wheel.wheel_pending({timer})", 0)
        self.equal(COUNT, count + 12)
        self.tab("scheme3")
        self.browser.press("ArrowDown")
        self.equal("schemes[panels[3].scheme].title", "Scheme 7: no migration")
        self.equal("panels[3].about.textContent.startsWith('The interval')", True)
        self.tab("fig9")

    # The underlined letters do what the buttons do, outside fields.
    def letters(self):
        self.open()
        self.browser.write("t")
        self.equal(NOW, 1)
        self.browser.write("j")
        self.equal(NOW, 101)
        count = self.run(COUNT)
        self.browser.write("s")
        self.equal(COUNT, count + 10)
        self.browser.write("c")
        self.equal(COUNT, count + 9)
        self.browser.write("m")
        self.equal(f"wheel.wheel_expires(chosen) - {NOW}", 50)
        self.run("element('many').focus()")
        self.browser.write("s")
        self.equal(COUNT, count + 9)
        self.run("element('many').blur()")
        self.browser.write("r")
        self.run(f"new Promise(done => setInterval(() => {NOW} > 105 && done(), 20))")
        self.browser.write("r")
        self.equal("running", 0)
        self.browser.write("b")
        self.equal(COUNT, 0)
        self.equal(NOW, 0)

    # The list's cost grows with n, and no wheel's does.
    def figure9(self):
        self.open()
        self.browser.write("9")
        label = "element('chart').getAttribute('aria-label')"
        self.run(f"new Promise(done => setInterval(() => {label}.endsWith(' 1000 timers set') && "
                 "done(), 20))")
        said = self.run(label)
        for words in ("sorted list, 2001;", "hashed wheel, 0;", "bounds, 0;", "hierarchical, 0,"):
            assert words in said, said

    # Each exercise sets its timers in its schemes, whose timers all fire.
    def exercises(self):
        self.open()
        for name in self.run("Object.keys(TRY)"):
            self.run(f"document.querySelector('[data-try={name}]').click()")
            self.equal("panels.every(panel => panel.points.size === pending().length)", True)
            self.run("for (let i = 0; i < 1000; i++) DO.tick(); show()")
            self.equal("schemes.every(scheme => !wheel.wheel_kept(scheme.k) && "
                       f"scheme.fired.length === TRY.{name}[1])", True)

    # A scheme that does not keep a timer's expiry is reported, and the page can begin again.
    def disagrees(self):
        self.open()
        self.run("""(() => {
            DO.again();
            setTimers(1, () => 0x12345);
            // The callout's own, then the model's, then by when it must have fired.
            const words = new BigUint64Array(wheel.memory.buffer), due = 0x12345n;
            const at = words.findIndex((word, i) => word === due && words[i + 3] === due &&
                words[i + 4] === due);
            words[at] = 1n;
            element("distance").value = 0x12345;
            DO.jump();
            show();
        })()""")
        self.equal("broken && !element('wrong').hidden", True)
        said = self.run("element('wrong').textContent")
        assert "disagree: c->expires == e->expires does not hold." in said, said
        self.run("DO.again(); show()")
        self.equal("broken || !element('wrong').hidden", False)
        self.equal(COUNT, 0)

    # Nothing is wider than the window, and text stands out from its background.
    def fits(self, width, dark):
        self.open(width, 800, dark)
        for name in [None] + self.run("Object.keys(TRY)"):
            if name:
                self.run(f"tryOut('{name}')")
            self.equal("document.documentElement.scrollWidth", width)
            self.equal("panels.every(({canvas}) => canvas.parentElement.scrollWidth <= "
                       "canvas.parentElement.clientWidth)", True)
        for front, back, least in (("ink", "paper", 7), ("ink", "card", 7),
                                   ("faint", "paper", 4.5), ("faint", "card", 4.5),
                                   ("soon", "card", 3), ("later", "card", 3),
                                   ("walk", "card", 4.5), ("bound", "card", 4.5),
                                   ("series1", "paper", 4.5), ("series2", "paper", 4.5),
                                   ("series3", "paper", 4.5), ("series4", "paper", 4.5)):
            contrast = self.contrast(front, back)
            assert contrast >= least, f"{front} on {back}: {contrast:.1f} is less than {least}"

    def contrast(self, front, back):
        lights = sorted(self.light(self.run(f"colour('{name}')")) for name in (front, back))
        return (lights[1] + 0.05) / (lights[0] + 0.05)

    @staticmethod
    def light(colour):
        digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
        light = 0
        for i, share in enumerate((0.2126, 0.7152, 0.0722)):
            part = int(digits[2 * i:2 * i + 2], 16) / 255
            light += share * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
        return light


def main():
    # Nothing here waits for so long.
    signal.alarm(900)
    browser = Chromium()
    walk = Walk(browser, sys.argv[1], sys.argv[2], int(sys.argv[3]))
    tests = [(f"the page shows what the same C says natively, seed {sys.argv[3]}",
              walk.same_as_native),
             ("the keyboard alone", walk.keyboard), ("letters", walk.letters),
             ("figure 9", walk.figure9), ("exercises", walk.exercises),
             ("a scheme that the model disagrees with", walk.disagrees)]
    for width, dark in itertools.product((360, 1200), (False, True)):
        tests.append((f"{width} pixels, {'dark' if dark else 'light'}",
                      lambda width=width, dark=dark: walk.fits(width, dark)))
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            mistakes = browser.mistakes()
            assert not mistakes, "\n".join(mistakes)
            print(f"ok {number} {name}", flush=True)
        except Exception:
            failed += 1
            print("\n".join("# " + line[:1000] for line in traceback.format_exc().splitlines()))
            print(f"not ok {number} {name}", flush=True)
    browser.close()
    print(f"1..{len(tests)}\n{len(tests) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
