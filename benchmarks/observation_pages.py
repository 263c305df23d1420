"""Pages for ``webarena_observations.py``: one kind of element of real sites per page."""

import http.server
import threading

_ROWS = "".join(
    f"<tr><td>{i}<td><a href=/o/{i}>Order {i:03}</a><td>{i * 7 % 50}.00<td><button>Cancel</button>"
    for i in range(1, 13)
)
_ITEMS = "".join(f"<li><a href=/i/{i}>Item {i}</a> – {i * 3 % 7} left" for i in range(1, 200))
_GRID = "".join(
    f"<div role=row>{''.join(f'<div role=gridcell tabindex=-1>{r}{c}</div>' for c in 'abcd')}</div>"
    for r in range(1, 9)
)
_SHADOW = """<shop-card></shop-card><shop-card name=Rug></shop-card><script>
customElements.define('shop-card', class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({mode: 'open'}).innerHTML =
      `<h3>${this.getAttribute('name') || 'Lamp'}</h3><p>In stock: <b>5</b></p><button>Add to cart</button><slot></slot>`;
  }
});</script><div id=closed></div><script>
closed.attachShadow({mode: 'closed'}).innerHTML = '<label>Closed <input value=x></label>';</script>"""

# ruff: noqa: E501
PAGES = {
    "table": f"<h1>Orders</h1><table border=1><caption>Twelve orders</caption><tr><th>#<th>Order<th>Total<th>{_ROWS}</table>",
    "layout-table": "<table><tr><td>Left<td><a href=/>Middle</a><td>Right <b>bold</b></table>",
    "table-heads": "<table><thead><tr><th colspan=2>A<th rowspan=2>B<tr><th>a1<th>a2<tbody><tr><th scope=row>x<td>1<td>2</table>",
    "grid": f"<div role=grid aria-label=Grid aria-rowcount=8>{_GRID}</div>",
    "form": "<form><fieldset><legend>Address</legend><label>Name <input required value=Ada></label><label>Street <input></label>"
    "<label><input type=checkbox checked> Gift</label><label><input type=radio name=r> A</label><label><input type=radio name=r checked>"
    " B</label></fieldset><label>Note <textarea>two\nlines</textarea></label><input type=submit value=Send><input type=reset>"
    "<input type=image alt=go><input type=search placeholder=Find><input type=password value=secret><output>42</output></form>",
    "choices": "<label>Size <select><option>S<option selected>M<option disabled>L</select></label><select multiple size=3 aria-label=Many>"
    "<option>a<option selected>b<option>c</select><input list=l aria-label=Town><datalist id=l><option>Oslo</datalist>",
    "numbers": "<input type=number value=5 aria-label=Count><input type=range value=30 aria-label=Volume><progress value=3 max=10>"
    "</progress><meter value=.4></meter><input type=color value=#00ff00 aria-label=Colour><input type=file aria-label=File>",
    "dates": "<label>Day <input type=date value=2026-03-04></label><p><label>At <input type=time value=22:05></label>"
    "<p><input type=month aria-label=Month><p><input type=datetime-local aria-label=When value=2026-03-04T10:20>",
    "frame": "<h1>Outer</h1><iframe title=Inner width=400 height=200 srcdoc='<h2>Inner</h2><a href=/x>link</a><input>'></iframe>"
    "<p>after</p><iframe src=/table width=400 height=150></iframe>",
    "shadow": _SHADOW,
    "live": "<div role=status>Saved 3 items</div><div role=alert>Wrong password</div><div aria-live=polite>Loading <b>9</b></div>"
    "<div role=log><p>one</p><p>two</p></div><div role=timer>0:59</div><output>7</output><div role=progressbar aria-valuenow=4></div>",
    "long-list": f"<ul>{_ITEMS}</ul>",
    "numbered": "<ol start=7><li>seven<li>eight<ol type=a><li>a<li>b</ol></ol><dl><dt>Term<dd>Meaning<dd>Another</dl>",
    "headings": "<h1>One</h1><p>Text with <em>emphasis</em>, <strong>strength</strong>, <code>code</code>, <mark>marks</mark> and "
    "<del>old</del><ins>new</ins>, H<sub>2</sub>O, <abbr title=x>abbr</abbr>, <time>noon</time>.<h2>Two</h2><blockquote>Quote</blockquote>"
    "<pre>pre\n formatted</pre><hr><address>Oslo</address>",
    "links": "<nav aria-label=Main><a href=/a>A</a> | <a href=/b aria-current=page>B</a></nav><a href=/c><img alt=Pic src=/x></a>"
    "<a href=/d title=More>Read <span aria-hidden=true>→</span></a><a>not a link</a><a href=/e></a>",
    "images": "<img alt=Lamp src=data:, width=40 height=40><img alt='' src=data:,><img src=data:, width=40 height=40><figure><img alt=Map "
    "src=data:, width=9 height=9><figcaption>A map</figcaption></figure><svg width=60 height=30><title>Chart</title><text y=20>95</text></svg>"
    "<svg width=20 height=20 role=img aria-label=Star><circle r=9 cx=9 cy=9 /></svg>",
    "landmarks": "<header>Top <a href=/>Home</a></header><main><section aria-label=News><article><h2>Post</h2>Words</article></section>"
    "<aside>Side</aside></main><footer>© 2026</footer><search><input aria-label=q></search>",
    "tabs": "<div role=tablist><button role=tab aria-selected=true>One</button><button role=tab>Two (3)</button></div>"
    "<div role=tabpanel aria-label=One>Panel 1</div><div role=tree><div role=treeitem aria-expanded=false>Leaf</div></div>"
    "<div role=menu><div role=menuitem>Cut</div><div role=menuitemcheckbox aria-checked=true>Bold</div></div>",
    "dialog": "<p>behind</p><dialog open aria-label=Sure><p>Delete 3 files?</p><button autofocus>Yes</button><button>No</button></dialog>"
    "<div role=tooltip>Tip</div><details><summary>More</summary>hidden</details><details open><summary>Less</summary>shown</details>",
    "hidden": "<p style=display:none>none</p><p style=visibility:hidden>hidden</p><p style=opacity:0>clear</p><p aria-hidden=true>away</p>"
    "<p style='position:absolute;left:-999px'>off</p><p style='width:0;height:0;overflow:hidden'>zero</p><p>seen</p><p hidden>no</p>"
    "<div style='display:contents'><b>contents</b></div>",
    "moved": "<div style='transform:translate(200px,40px) rotate(10deg)'><a href=/>turned</a> text</div><div style='position:fixed;bottom:0'>"
    "<button>fixed</button></div><div style='position:sticky;top:0'>sticky</div><div style='zoom:1.5'>zoomed <i>in</i></div>"
    "<div style='height:60px;overflow:auto'><p>a<p>b<p>c<p>d<p>e</div><p style='columns:2;width:300px'>one two three four five six</p>",
    "below": "<p style='margin-top:700px'>half in view<br>second</p><div style=height:300px></div><p>below</p>",
    "editor": "<div contenteditable role=textbox aria-multiline=true aria-label=Text>Hello <b>world</b></div><div contenteditable>plain</div>"
    "<textarea rows=2 readonly>fixed text</textarea><input value=locked readonly aria-label=Locked><input disabled value=off>",
    "media": "<video controls width=300></video><audio controls></audio><canvas width=20 height=20>fallback</canvas>",
    "languages": "<p lang=ja>日本語の文</p><p dir=rtl>שלום עולם</p><p>naïve “quotes” — it's 5 €</p><p>a\u00a0b&nbsp;</p><p>1\u202f000</p>"
    "<ruby>漢<rt>kan</rt></ruby><math><mi>x</mi><mo>=</mo><mn>2</mn></math><p>back\\slash 'single' \"double\"</p>",
    "repeats": "<h2>Price 10</h2><p>10</p><p>1</p><a href=/>10 more</a><span>more</span><p>10</p><p>StaticText</p>",
    "toolbar": "<div role=toolbar aria-label=Tools><button aria-pressed=true>B</button><button aria-haspopup=menu aria-expanded=false>…</button>"
    "<span role=separator></span><span role=switch aria-checked=false tabindex=0>Dark</span><div role=slider aria-valuenow=3 tabindex=0></div>"
    "</div><div role=radiogroup aria-label=Stars><span role=radio aria-checked=true>5</span></div><div role=note>n</div>",
}  # fmt: skip


class Pages(http.server.BaseHTTPRequestHandler):
    """Serves each page of ``PAGES`` at its name."""

    def do_GET(self) -> None:
        """Sends a page."""
        page = PAGES.get(self.path.strip("/"))
        self.send_response(404 if page is None else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(f"<!doctype html><title>{self.path.strip('/')}</title>{page}".encode())

    def log_message(self, *_: object) -> None:
        """Logs nothing."""


def serve() -> http.server.ThreadingHTTPServer:
    """Starts a server on a free port of this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
