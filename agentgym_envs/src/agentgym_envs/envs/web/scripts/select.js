// Chooses an option of a drop-down list by its label; returns an error message, or ''.
function (wanted) {
  if (!this.isConnected) return 'is not on the page any more';
  if (this.tagName !== 'SELECT') return 'is no drop-down list';
  const clean = text => text.replace(/\s+/g, ' ').trim();
  const options = [...this.options], labels = options.map(o => clean(o.label || o.text));
  const index = labels.indexOf(clean(wanted));
  if (index < 0) return `has no option '${wanted}', only ${labels.slice(0, 20).join(', ')}`;
  if (options[index].disabled) return `does not allow '${wanted}'`;
  if (this.multiple) options[index].selected = !options[index].selected;
  else this.selectedIndex = index;
  this.dispatchEvent(new Event('input', {bubbles: true}));
  this.dispatchEvent(new Event('change', {bubbles: true}));
  return '';
}
