// Names icons, colour boxes and shapes, which the accessibility tree leaves out.
(() => {
  for (const e of document.querySelectorAll('.alink')) e.setAttribute('role', 'link');
  const tags = 'SCRIPT STYLE BR HR OPTION INPUT TEXTAREA SELECT BUTTON CANVAS LINK';
  const skipped = new Set(tags.split(' '));
  const controls = 'button, a, [role=button], .ui-dialog-titlebar';
  for (const e of document.querySelectorAll('body *')) {
    if (e.dataset === undefined || (e.hasAttribute('aria-label') && !e.dataset.named)) continue;
    if (e.closest(controls) || e.matches('.ui-resizable-handle, #wrap, #area')) continue;
    if (skipped.has(e.tagName) || e.childElementCount || e.textContent.trim()) continue;
    const box = e.getBoundingClientRect();
    if (!box.width && !box.height) continue;
    const style = getComputedStyle(e);
    const colour = e.getAttribute('fill') || e.style.fill || e.style.backgroundColor || '';
    const join = words => words.filter(Boolean).join(' ');
    const kind = join([e.id, e.getAttribute('class')]).replace(/\s+/g, ' ').trim();
    const words = join([colour, kind || (e instanceof SVGElement ? e.tagName : '')]);
    if (!words) continue;
    e.dataset.named = '1';
    e.setAttribute('role', 'img');
    e.setAttribute('aria-label', words);
  }
})()
