"""The page around a replay that plays by itself: verdict, colours, and plots with a cursor."""

from __future__ import annotations

from html import escape

from balance.app.live.colours import ALARM, NEUTRAL, PUSH, css
from balance.app.live.left_panel import key_html
from balance.app.live.plots import legend
from balance.app.live.surroundings import Theme
from balance.app.live.svg_charts import INNER, LEFT
from balance.recordings.judging import judge
from balance.recordings.notebook import headline
from balance.recordings.recording import Recording
from balance.recordings.verdict import Outcome

LIGHT = "--paper:#fff;--ink:#1d232b;--line:#dfe4ea"
DARK = "--paper:#1b212b;--ink:#e6eaf0;--line:#3a4658"

# The player is a page of its own, in a frame: neither's styles reach the other's.
STYLE = """
*{box-sizing:border-box}
body{margin:0;display:flex;height:100vh;overflow:hidden;font:14px/1.4 system-ui,sans-serif;
 background:var(--paper);color:var(--ink)}
aside{width:clamp(230px,25vw,340px);flex:none;overflow-y:auto;border-right:1px solid var(--line)}
iframe{flex:1;min-width:0;height:100%;border:0}
h1{font-size:1.05em;margin:.7em .85em .3em}
.verdict{margin:0 .85em .5em;padding:.4em .6em;border-radius:.4em;border-left:4px solid var(--mark);
 background:var(--tint);font-size:.88em;overflow-wrap:anywhere}
.pushes{margin:0 .95em .4em;font-size:.8em;opacity:.8}
figure{margin:.5em .7em 0}
figcaption{font-size:.78em;font-weight:600;text-align:center}
svg{display:block;width:100%}
span svg{display:inline-block;width:20px}
figure text{font-size:9px;fill:var(--ink);opacity:.75}
.grid{stroke:var(--line);stroke-width:1}
.curve{fill:none;stroke-width:1.5;stroke-linejoin:round}
.push{opacity:.33}
.cursor{stroke:var(--ink);stroke-width:1;opacity:.6}
details{margin:.3em .2em .6em}
summary{cursor:pointer;padding:.2em .7em;font-size:.85em;font-weight:600}
@media (max-width:760px){body{flex-direction:column}
 aside{width:100%;height:38vh;order:2;border-right:0;border-top:1px solid var(--line)}
 iframe{height:62vh}}
"""

# The player tells its time only by the slider at its bottom.  When it begins anew it switches lamps
# of its own on, for a moment or, where drawing is slow, for seconds.
SCRIPT = """
const frame = document.querySelector("iframe"), cursors = document.querySelectorAll(".cursor");
let scene = null;
function keepLight() {
  if (scene === null) {
    const nodes = Object.values(frame.contentWindow?.__viserMutable?.nodeRefFromName ?? {});
    scene = nodes.find(node => node?.parent) ?? null;
    while (scene?.parent) scene = scene.parent;
    if (!scene?.isScene) scene = null;
  }
  scene?.traverse(node => { if (node.isDirectionalLight) node.visible = false; });
  if (scene) scene.environment = null;
}
function follow() {
  keepLight();
  const slider = frame.contentDocument?.querySelector("[role=slider]");
  const now = Number(slider?.getAttribute("aria-valuenow") ?? 0);
  const x = LEFT + INNER * Math.min(now / SPAN, 1);
  for (const cursor of cursors) { cursor.setAttribute("x1", x); cursor.setAttribute("x2", x); }
  requestAnimationFrame(follow);
}
follow();
"""


def replay_page(
    player: str, recording: Recording, charts: str, soles: list[str], span: float, theme: Theme
) -> str:
    """One HTML file; ``player`` is that of the scene, ``span`` that of the charts, s."""
    fell = judge(recording).outcome in (Outcome.FELL, Outcome.ABORTED)
    mark = ALARM if fell else NEUTRAL
    colours = f"{DARK if theme.dark else LIGHT};--mark:{css(mark)};--tint:{css(mark, 0.13)}"
    title = recording.robot.name
    said = headline(recording)
    script = (
        SCRIPT.replace("LEFT", f"{LEFT:g}")
        .replace("INNER", f"{INNER:g}")
        .replace("SPAN", f"{span:.6g}")
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(said)}</title><style>:root{{{colours}}}{STYLE}</style></head><body>"
        f'<aside><h1>{escape(title)}</h1><div class="verdict" role="status">{escape(said)}</div>'
        f"{_pushes(recording)}{legend(soles, steps=False)}{charts}"
        f"<details open><summary>Colours</summary>{key_html()}</details></aside>"
        f'<iframe title="The motion" srcdoc="{escape(player)}"></iframe>'
        f"<script>{script}</script></body></html>"
    )


def _pushes(recording: Recording) -> str:
    """Each push beside the ankle limit, and what held the strongest one where the law says it."""
    summary = recording.summary()
    words = "; ".join(
        f"{push.impulse:.3g} N s on {push.body} at {push.start:.3g} s, "
        f"{100 * told['ankle_limit_fraction']:.0f} % of the ankle limit"
        for push, told in zip(recording.pushes, summary["pushes"], strict=True)
    )
    sign = f'<span style="color:{css(PUSH)}">→</span>'
    held = f"; held by {summary['strategy']}" if "strategy" in summary else ""
    return f'<div class="pushes">{sign} {escape(words + held)}</div>' if words else ""
