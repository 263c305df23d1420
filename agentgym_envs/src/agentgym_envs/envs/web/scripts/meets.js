// Names the elements that clicks at some points would meet: the element itself, one around it, or
// another. Points in a frame are not comparable.
function (points) {
  const element = this.nodeType === Node.ELEMENT_NODE
    ? this : this.parentElement ?? this.documentElement;
  if (!element?.isConnected) return points.map(() => 'gone');
  if (element.ownerDocument.defaultView !== window.top) return points.map(() => 'framed');
  return points.map(([x, y]) => {
    const top = document.elementFromPoint(x, y);
    if (!top) return 'another';
    return element.contains(top) ? 'itself' : top.contains(element) ? 'around' : 'another';
  });
}
