/**
 * Interactive features of a page with scripts: colour scheme, hiding storages, values under the
 * pointer. The page is complete without it. page.js inlines it as a module.
 */
// @ts-nocheck: it runs in a page, and the types of this project have no DOM.

const root = document.documentElement;
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

/** Light or dark: the system's preference, until the user chooses. */
function offerThemes() {
  const button = document.querySelector('[data-action="theme"]');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : system.matches);
  const name = () => {
    button.textContent = isDark() ? 'Light colours' : 'Dark colours';
  };
  button.hidden = false;
  name();
  system.addEventListener('change', name);
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    name();
  });
}

/** Hides and shows storages in all plots. */
function offerStorages(tools) {
  tools.hidden = false;
  for (const button of all('button[data-toggle]', tools)) {
    button.addEventListener('click', () => {
      const shown = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', String(shown));
      for (const mark of all(`main [data-s="${button.dataset.toggle}"]`)) {
        mark.classList.toggle('off', !shown);
      }
    });
  }
}

/** One box with the value of a point, also for screen readers. */
function makeTip() {
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.hidden = true;
  tip.setAttribute('role', 'status');
  document.querySelector('main').append(tip);
  let marked = null;
  const hide = () => {
    marked?.classList.remove('on');
    marked = null;
    tip.hidden = true;
  };
  const show = (svg, hit) => {
    if (hit !== marked) {
      hide();
      marked = hit;
      hit.classList.add('on');
      tip.textContent = hit.dataset.text;
      tip.hidden = false;
    }
    const { x, y } = new DOMPoint(hit.cx.baseVal.value, hit.cy.baseVal.value).matrixTransform(
      svg.getScreenCTM(),
    );
    const left = Math.min(x + 14, root.clientWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(8, left) + scrollX}px`;
    tip.style.top = `${Math.max(4, y - tip.offsetHeight - 12) + scrollY}px`;
  };
  return { show, hide, marked: () => marked };
}

/** The point closest to the pointer, on one axis or both. */
function nearestOf(svg, hits, { clientX, clientY }) {
  const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
  const { nearest } = svg.dataset;
  let best = null;
  let least = Number.POSITIVE_INFINITY;
  for (const hit of hits) {
    const dx = nearest === 'y' ? 0 : hit.cx.baseVal.value - x;
    const dy = nearest === 'x' ? 0 : hit.cy.baseVal.value - y;
    const distance = dx * dx + dy * dy;
    if (distance < least) [best, least] = [hit, distance];
  }
  return best;
}

/** Values under the pointer, or by the arrow keys. */
function offerValues(svg, tip) {
  const hits = all('.hits circle', svg);
  // The browser's tooltip would cover this box.
  for (const hit of hits) {
    hit.dataset.text = hit.textContent;
    hit.replaceChildren();
  }
  const visible = () => hits.filter((hit) => !hit.classList.contains('off'));
  svg.setAttribute('tabindex', '0');
  svg.addEventListener('pointerleave', tip.hide);
  svg.addEventListener('blur', tip.hide);
  svg.addEventListener('pointermove', (event) => {
    const found = nearestOf(svg, visible(), event);
    if (found) tip.show(svg, found);
  });
  svg.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') tip.hide();
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const list = visible();
    if (step === undefined || list.length === 0) return;
    event.preventDefault();
    const at = list.indexOf(tip.marked());
    tip.show(svg, list[at < 0 ? 0 : (at + step + list.length) % list.length]);
  });
}

offerThemes();
for (const tools of all('.tools')) offerStorages(tools);
const tip = makeTip();
for (const svg of all('svg[data-nearest]')) offerValues(svg, tip);
