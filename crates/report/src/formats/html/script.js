// Values under the pointer, or by the arrow keys. The pictures are complete without it.
for (const plot of document.querySelectorAll('.plot')) {
  const data = plot.querySelector('.stops');
  if (!data) continue;
  const {width, names, stops} = JSON.parse(data.textContent);
  const svg = plot.querySelector('svg');
  const cursor = plot.querySelector('.cursor');
  const box = plot.querySelector('.values');
  let at = -1;
  const hide = () => {
    at = -1;
    box.hidden = true;
    cursor.style.visibility = 'hidden';
  };
  const show = (next) => {
    next = Math.max(0, Math.min(stops.length - 1, next));
    if (next === at) return;
    at = next;
    const [x, head, values] = stops[at];
    const title = document.createElement('b');
    title.textContent = head;
    const lines = values.map(([look, text]) => {
      const line = document.createElement('span');
      line.textContent = `${names[look]}: ${text}`;
      line.style.setProperty('--own', `var(--c${look})`);
      return line;
    });
    box.replaceChildren(title, ...lines);
    box.hidden = false;
    cursor.style.visibility = 'visible';
    cursor.setAttribute('transform', `translate(${x} 0)`);
    const share = 100 * x / width;
    box.style.left = share < 50 ? `${share + 1.5}%` : 'auto';
    box.style.right = share < 50 ? 'auto' : `${101.5 - share}%`;
  };
  const nearest = (x) => {
    let best = 0;
    stops.forEach((stop, nth) => {
      if (Math.abs(stop[0] - x) < Math.abs(stops[best][0] - x)) best = nth;
    });
    return best;
  };
  svg.addEventListener('pointermove', (event) => {
    const {left, width: wide} = svg.getBoundingClientRect();
    show(nearest((event.clientX - left) / wide * width));
  });
  svg.addEventListener('pointerleave', hide);
  svg.addEventListener('blur', hide);
  svg.addEventListener('keydown', (event) => {
    const moves = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: stops.length - 1};
    if (event.key === 'Escape') {
      hide();
    } else if (event.key in moves) {
      show(moves[event.key]);
      event.preventDefault();
    }
  });
}
