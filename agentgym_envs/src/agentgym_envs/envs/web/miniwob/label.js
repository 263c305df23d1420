// Names what a screen reader would pass over: icons, colour boxes, shapes. An agent that reads has no other way to see them.
(() => {
  for (const e of document.querySelectorAll('.alink')) e.setAttribute('role', 'link');
  const skipped = new Set('SCRIPT STYLE BR HR OPTION INPUT TEXTAREA SELECT BUTTON CANVAS LINK'.split(' '));
  for (const e of document.querySelectorAll('body *')) {
    if (e.dataset === undefined || (e.hasAttribute('aria-label') && !e.dataset.told)) continue;
    if (e.closest('button, a, [role=button], .ui-dialog-titlebar') || e.matches('.ui-resizable-handle, #wrap, #area')) continue;
    if (skipped.has(e.tagName) || e.childElementCount || e.textContent.trim()) continue;
    const box = e.getBoundingClientRect();
    if (!box.width && !box.height) continue;
    const style = getComputedStyle(e);
    const colour = e.getAttribute('fill') || e.style.fill || e.style.backgroundColor || '';
    const kind = [e.id, e.getAttribute('class')].filter(Boolean).join(' ').replace(/\s+/g, ' ').trim();
    const words = [colour, kind || (e instanceof SVGElement ? e.tagName : '')].filter(Boolean).join(' ');
    if (!words) continue;
    e.dataset.told = '1';
    e.setAttribute('role', 'img');
    e.setAttribute('aria-label', words);
  }
})()
