// The map moves: each view is the same page asked again for its map alone. Fields suggest, forms check.
(() => {
  const pane = document.querySelector('.pane');
  if (!pane) return;
  const FARTHEST = 8, NEAREST = 18, STEP = 200;
  const clamp = (n, low, high) => Math.min(high, Math.max(low, n));
  let chart = pane.querySelector('.chart'), asked = 0;
  const read = () => ({zoom: +chart.dataset.zoom, lat: +chart.dataset.lat, lon: +chart.dataset.lon, layer: chart.dataset.layer});
  let view = read();
  const onlyMap = location.pathname === '/';

  // The view some pixels away from another, at its scale.
  const moved = (from, across, down) => {
    const scale = 7 * 2 ** (from.zoom - 8);
    return {...from, lat: clamp(from.lat - down / scale / 111, 44, 44.82), lon: clamp(from.lon + across / scale / 80, -72, -70.5)};
  };
  // A point of the picture stays where it is.
  const zoomed = (by, across = 0, down = 0) => {
    const zoom = clamp(view.zoom + by, FARTHEST, NEAREST), there = moved(view, across, down);
    return {...moved({...there, zoom}, -across, -down), layer: view.layer};
  };
  const words = v => ({zoom: v.zoom, lat: v.lat.toFixed(5), lon: v.lon.toFixed(5)});

  const write = () => {
    const {zoom, lat, lon} = words(view);
    const query = `/?zoom=${zoom}&lat=${lat}&lon=${lon}` + (view.layer ? `&layer=${view.layer}` : '');
    const hash = `#map=${zoom}/${lat}/${lon}` + (view.layer ? `/${view.layer}` : '');
    history.replaceState(null, '', onlyMap ? query : location.pathname + location.search + hash);
  };
  const mark = () => {
    for (const link of pane.querySelectorAll('.follows')) {
      const url = new URL(link.href);
      url.searchParams.set('lat', view.lat.toFixed(5));
      url.searchParams.set('lon', view.lon.toFixed(5));
      link.href = url;
    }
    for (const link of pane.querySelectorAll('[data-layer][role=button]')) link.setAttribute('aria-pressed', link.dataset.layer === view.layer);
  };
  const show = async wanted => {
    view = wanted;
    const turn = ++asked, url = new URL(location);
    url.hash = '';
    const size = {layer: view.layer, w: pane.clientWidth, h: pane.clientHeight, part: 'map'};
    for (const [key, value] of Object.entries({...words(view), ...size})) url.searchParams.set(key, value);
    const text = await (await fetch(url)).text();
    if (turn !== asked) return;
    const fresh = new DOMParser().parseFromString(text, 'text/html').querySelector('.chart');
    chart.replaceWith(fresh);
    chart = fresh;
    mark();
  };
  const go = wanted => { const done = show(wanted); write(); return done; };

  pane.querySelector('.controls').addEventListener('click', event => {
    const control = event.target.closest('[role=button], .layers');
    if (!control) return;
    if (control === opener) return fold(menu.hidden);
    const {dataset} = control;
    event.preventDefault();
    if ('layer' in dataset) {
      fold(false);
      go({...view, layer: dataset.layer});
    } else go(dataset.nearer ? zoomed(+dataset.nearer) : moved(view, +(dataset.across || 0), +(dataset.down || 0)));
  });
  const menu = document.getElementById('layers'), opener = pane.querySelector('.layers');
  const fold = open => { menu.hidden = !open; opener.setAttribute('aria-expanded', open); };
  fold(false);

  const KEYS = {
    ArrowUp: () => moved(view, 0, -STEP), ArrowDown: () => moved(view, 0, STEP), ArrowLeft: () => moved(view, -STEP, 0),
    ArrowRight: () => moved(view, STEP, 0), '+': () => zoomed(1), '=': () => zoomed(1), '-': () => zoomed(-1),
  };
  document.addEventListener('keydown', event => {
    if (event.key === 'Escape') fold(false);
    if (!KEYS[event.key] || event.target.matches('input, select, textarea, .suggestions *') || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    go(KEYS[event.key]());
  });
  pane.addEventListener('wheel', event => {
    event.preventDefault();
    const box = pane.getBoundingClientRect();
    go(zoomed(event.deltaY < 0 ? 1 : -1, event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2));
  }, {passive: false});

  let drag = null;
  pane.addEventListener('pointerdown', event => {
    if (event.button === 0 && !event.target.closest('.controls')) drag = {x: event.clientX, y: event.clientY, far: false};
  });
  document.addEventListener('pointermove', event => {
    if (!drag) return;
    const across = event.clientX - drag.x, down = event.clientY - drag.y;
    drag.far = drag.far || Math.hypot(across, down) > 4;
    if (drag.far) chart.querySelector('svg').style.transform = `translate(${across}px, ${down}px)`;
  });
  document.addEventListener('pointerup', event => {
    if (drag?.far) go(moved(view, drag.x - event.clientX, drag.y - event.clientY));
    setTimeout(() => { drag = null; });
  });
  pane.addEventListener('dragstart', event => event.preventDefault());
  pane.addEventListener('click', event => { if (drag?.far) event.preventDefault(); }, true);

  // What a form lacks is said before it is sent.
  const PROBLEMS = {
    review: form => !form.stars.value ? 'Choose how many stars.' : form.review.value.trim().length < 10 ? 'A review has at least 10 characters.' : '',
    text: form => form.text.value.trim().length < 5 ? 'A note has at least 5 characters.' : '',
  };
  for (const form of document.querySelectorAll('form[data-check]')) {
    form.addEventListener('submit', event => {
      form.querySelector('.problem')?.remove();
      const problem = PROBLEMS[form.dataset.check](form);
      if (!problem) return;
      event.preventDefault();
      const line = Object.assign(document.createElement('p'), {className: 'problem', textContent: problem});
      line.setAttribute('role', 'alert');
      form.prepend(line);
    });
  }

  const hash = location.hash.match(/^#map=(\d+)\/(-?[\d.]+)\/(-?[\d.]+)(?:\/(\w+))?$/);
  mark();
  if (hash && !onlyMap) show({zoom: clamp(+hash[1], FARTHEST, NEAREST), lat: +hash[2], lon: +hash[3], layer: hash[4] || ''});
  else if (pane.clientWidth !== +chart.dataset.width || pane.clientHeight !== +chart.dataset.height) show(view);
})();
