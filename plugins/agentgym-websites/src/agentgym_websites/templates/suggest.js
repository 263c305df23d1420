// A field with data-suggest offers what fits while somebody types: links or, with data-fill, texts that it may hold.
for (const field of document.querySelectorAll('[data-suggest]')) {
  const place = field.parentElement, fills = 'fill' in field.dataset, list = document.createElement('ul');
  let timer;
  list.className = 'suggestions';
  list.setAttribute('aria-label', 'Suggestions');
  field.autocomplete = 'off';
  const close = () => list.remove();
  const offer = ({text, address, more}) => {
    const item = document.createElement('li'), choice = item.appendChild(document.createElement(fills ? 'button' : 'a'));
    choice.textContent = text;
    if (more) item.append(Object.assign(document.createElement('span'), {className: 'muted', textContent: ` ${more}`}));
    if (!fills) choice.href = address;
    else Object.assign(choice, {type: 'button', onclick: () => { field.value = text; close(); field.focus(); }});
    return item;
  };
  const suggest = async () => {
    const words = field.value.trim(), url = new URL(field.dataset.suggest, location);
    url.searchParams.set('q', words);
    const found = words.length > 1 ? await (await fetch(url)).json() : [];
    if (words !== field.value.trim()) return;
    close();
    if (!found.length || (fills && found.some(f => f.text.toLowerCase() === words.toLowerCase()))) return;
    list.replaceChildren(...found.map(offer));
    place.append(list);
  };
  field.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(suggest, 200); });
  place.addEventListener('keydown', event => {
    if (event.key === 'Escape') close();
    if (event.key !== 'ArrowDown' || !list.isConnected) return;
    event.preventDefault();
    list.querySelector('a, button').focus();
  });
  document.addEventListener('click', event => place.contains(event.target) || close());
}
