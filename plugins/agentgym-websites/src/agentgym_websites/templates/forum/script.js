(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const made = (tag, text, values = {}) => Object.assign(document.createElement(tag), {textContent: text, ...values});
  let later;  // what a field waits with until nobody types any more
  const wait = what => { clearTimeout(later); later = setTimeout(what, 200); };

  // Votes, saving and joining: the page stays.
  const live = async (form, button) => {
    const body = new URLSearchParams(new FormData(form, button));
    const reply = await fetch(form.action, {method: 'POST', body, headers: {Accept: 'application/json'}});
    if (reply.redirected || !reply.ok) { location.assign('/login'); return; }
    const told = await reply.json();
    if ('label' in told) { button.textContent = told.label; return; }
    form.querySelector('.score').textContent = told.score;
    for (const [value, vote] of [['up', 1], ['down', -1]])
      form.querySelector(`button[value=${value}]`).setAttribute('aria-pressed', told.vote === vote);
  };

  // What is missing in a form is said below the field.
  const complain = (field, text) => {
    field.parentNode.querySelector('.wrong')?.remove();
    field.toggleAttribute('aria-invalid', false);
    if (!text) return false;
    field.setAttribute('aria-invalid', true);
    const note = made('p', text, {className: 'wrong'});
    note.setAttribute('role', 'alert');
    field.after(note);
    return true;
  };
  const trouble = field =>
    field.required && !field.value.trim() ? field.dataset.missing : field.validity.valid ? '' : field.dataset.wrong || field.validationMessage;
  const checked = form => {
    const wrong = all('input, select, textarea', form).filter(field => field.willValidate && complain(field, trouble(field)));
    wrong[0]?.focus();
    return !wrong.length;
  };

  document.addEventListener('submit', event => {
    const form = event.target, isLive = form.matches('[data-live]');
    if (isLive || (form.matches('[data-checked]') && !checked(form))) event.preventDefault();
    if (isLive) live(form, event.submitter);
  });

  // Folding of threads; what others voted down is folded from the start.
  const fold = (comment, folded) => {
    const button = comment.querySelector('.fold'), {author, answers} = button.dataset;
    comment.querySelector('.inside').hidden = folded;
    button.textContent = folded ? `[+${1 + Number(answers)}]` : '[–]';
    button.setAttribute('aria-expanded', !folded);
    button.setAttribute('aria-label', `${folded ? 'Expand' : 'Collapse'} comment by ${author}`);
  };
  const unfoldTarget = () => {
    const target = location.hash.startsWith('#comment-') && document.getElementById(location.hash.slice(1));
    for (let c = target; c; c = c.parentElement.closest('.comment')) fold(c, false);
    if (target) target.scrollIntoView();
  };

  // Answers are written where they will stand.
  const answer = link => {
    const place = link.closest('.acts'), open = place.nextElementSibling?.matches('.write') && place.nextElementSibling;
    link.setAttribute('aria-expanded', !open);
    if (open) { open.remove(); return; }
    const comment = link.closest('.comment'), key = comment.id.slice('comment-'.length);
    const form = document.querySelector('form.write').cloneNode(true), field = form.querySelector('textarea');
    all('.preview, .wrong', form).forEach(e => e.remove());
    form.append(made('input', '', {type: 'hidden', name: 'parent', value: key}));
    Object.assign(field, {id: `body${key}`, value: ''});
    Object.assign(form.querySelector('label'), {htmlFor: field.id, textContent: `Reply to ${comment.querySelector('.fold').dataset.author}`});
    form.querySelector('button').textContent = 'Post reply';
    place.after(form);
    field.focus();
  };

  const opened = (button, open) => {
    button.setAttribute('aria-expanded', open);
    const panel = document.getElementById(button.dataset.opens);
    panel.hidden = !open;
    if (open) panel.querySelector('input')?.focus();
  };
  const closeAll = except => {
    all('[data-opens]').filter(b => b !== except && !b.parentNode.contains(except)).forEach(b => opened(b, false));
  };
  document.addEventListener('click', event => {
    const button = event.target.closest('[data-opens]'), folding = event.target.closest('.fold'), reply = event.target.closest('a.reply');
    closeAll(button || event.target);
    if (button) opened(button, button.getAttribute('aria-expanded') === 'false');
    if (folding) fold(folding.closest('.comment'), folding.getAttribute('aria-expanded') === 'true');
    if (reply && document.querySelector('form.write')) { event.preventDefault(); answer(reply); }
  });
  document.addEventListener('keydown', event => {
    if (event.key === 'Escape') closeAll(document.body);
  });

  // What fits while one types.
  const preview = async field => {
    let shown = field.parentNode.querySelector('.preview');
    if (!field.value.trim()) { shown?.remove(); return; }
    const text = field.value;
    const html = await (await fetch('/preview', {method: 'POST', body: new URLSearchParams({text})})).text();
    if (field.value !== text) return;
    shown ??= made('section', '', {className: 'preview text'});
    shown.innerHTML = html;  // the server's Markdown, which lets no markup through
    shown.prepend(made('h2', 'Preview'));
    field.parentNode.querySelector('.preview') ?? field.after(shown);
  };
  const count = field => {
    const note = field.parentNode.querySelector('.count') ?? made('p', '', {className: 'count muted'});
    note.textContent = `${field.value.length} of ${field.maxLength} characters`;
    field.after(note);
  };
  document.addEventListener('input', event => {
    const field = event.target;
    if (field.matches('[aria-invalid]')) complain(field, trouble(field));
    if (field.matches('[data-preview]')) wait(() => preview(field));
    if (field.matches('[data-counts]')) count(field);
    if (field.matches('[data-filters]'))
      all(field.dataset.filters).forEach(e => { e.hidden = !e.textContent.toLowerCase().includes(field.value.trim().toLowerCase()); });
  });

  // A community has flairs and rules of its own.
  const ownFlairs = async chooser => {
    const flairs = document.getElementById(chooser.dataset.flairs), asked = chooser.value;
    const told = asked ? await (await fetch(`/c/${encodeURIComponent(asked)}/flairs`)).json() : {flairs: [], rules: []};
    if (chooser.value !== asked) return;
    flairs.replaceChildren(made('option', 'None', {value: ''}), ...told.flairs.map(text => made('option', text, {value: text})));
    document.getElementById('rules').replaceChildren(...told.rules.map(text => made('li', text)));
  };
  document.addEventListener('change', event => { if (event.target.matches('[data-flairs]')) ownFlairs(event.target); });

  all('[data-script]').forEach(e => { e.hidden = false; });
  all('[data-checked]').forEach(form => { form.noValidate = true; });
  all('.comment').forEach(comment => fold(comment, 'low' in comment.dataset));
  all('[data-flairs]').filter(e => e.value).forEach(ownFlairs);
  unfoldTarget();
  addEventListener('hashchange', unfoldTarget);
})();
