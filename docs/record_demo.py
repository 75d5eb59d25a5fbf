"""Records pictures/demo.gif, from a real run: the demo's lines, then a number followed on the page.

`python docs/record_demo.py` runs the demo twice. To reuse earlier runs, give what the first printed and the page that
the second wrote: `python docs/record_demo.py printed.txt docs/dialogue.html`. It needs Pillow, playwright, a chromium.
"""

import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "demo.gif"
WIDTH, HEIGHT, COLORS = 800, 500, 16
TYPED = ["Hello, how are [MASK]?", "Oh Congratulations, Juliet | Thank you Romeo"]
TIMES = re.compile(r" +\d+ s, +\d+ s left$")
STOPS = (  # what is shown of the page: its address, and a caption
    ("tour=why:1", "$ python demo.py --page dialogue.html"),
    ("step=last:forward+Softmax&number=hidden:P", "Click a number: where does [MASK] look?"),
    ("step=first:backward+Decoder&number=answer:dE", "Its gradient is a sum. Follow any part of it"),
    ("step=last:backward+word_embeddings&number=word:dE", "... down to the word itself"),
)


def run(*options, typed=""):
    command = [sys.executable, str(ROOT / "demo.py"), *options]
    return subprocess.run(command, input=typed, capture_output=True, text=True, check=True).stdout


def terminal(lines):
    """A picture of a terminal."""
    picture = Image.new("RGB", (WIDTH, HEIGHT), "#1d1f21")
    draw, font = ImageDraw.Draw(picture), ImageFont.truetype("DejaVuSansMono.ttf", 13)
    draw.fontmode = "1"  # no gray edges, which cost bytes
    for row, line in enumerate(lines):
        color = "#ffffff" if line.startswith(("$", ">")) else "#8fd0a5" if line.startswith("  ") else "#c5c8c6"
        draw.text((16, 14 + 18 * row), line, color, font)
    return picture


def demo_frames(printed):
    """(picture, seconds): the lines of the demo as they come, without the dialogue and the times."""
    head, *answers = printed.rstrip().split("\n> ")
    lines = ["$ python demo.py", ""]
    yield terminal(lines), 0.8
    for line in head[head.index("\n\n") + 2 :].splitlines():
        if line.startswith(("9 lines", "epoch", "masked words   1", "next sentence")):
            lines.append(TIMES.sub("", line))
            yield terminal(lines), 0.3
    for answer in answers:
        question, *reply = answer.splitlines()
        lines += ["", f"> {question}"]
        yield terminal(lines), 0.9
        lines += reply
        yield terminal(lines), 1.8


def page_frames(path):
    """(picture, seconds): a number is followed on the page."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1120, "height": 672})
        for address, caption in STOPS:
            page.goto("about:blank")
            page.goto(f"{path.resolve().as_uri()}#{address}")
            page.wait_for_timeout(800)
            shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB").resize((WIDTH, HEIGHT - 20))
            picture = terminal([])
            picture.paste(shot, (0, 20))
            font = ImageFont.truetype("DejaVuSansMono.ttf", 13)
            ImageDraw.Draw(picture).text((16, 2), caption, "#ffffff", font)
            yield picture, 2.6
        browser.close()


def main(printed="", page=""):
    with tempfile.TemporaryDirectory() as folder:
        text = Path(printed).read_text(encoding="utf-8") if printed else run(typed="\n".join(TYPED) + "\n")
        if not page:
            page = str(Path(folder, "dialogue.html"))
            run("--page", page)
        frames = [*demo_frames(text), *page_frames(Path(page))]
    pictures = [picture.quantize(COLORS, dither=Image.Dither.NONE) for picture, _ in frames]
    durations = [round(1000 * seconds) for _, seconds in frames]
    pictures[0].save(PICTURE, save_all=True, append_images=pictures[1:], duration=durations, loop=0, optimize=True)
    print(f"{PICTURE.name}: {len(frames)} frames, {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
