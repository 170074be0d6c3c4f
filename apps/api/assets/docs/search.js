// Full-text search of the pages and operations. The index is loaded when the dialog is first opened.
const MAX_RESULTS = 12;
const SNIPPET_LENGTH = 140;
/** The folder of the pages. */
const PAGES = new URL('..', import.meta.url);

let index;
const button = document.querySelector('button.search');
const { dialog, input, status, results } = createDialog();

button.hidden = false;
button.addEventListener('click', open);
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest('input, textarea, select, [contenteditable], dialog')) return;
  event.preventDefault();
  open();
});

function createDialog() {
  const dialog = element('dialog', { className: 'search', ariaLabel: 'Search' });
  const input = element('input', { type: 'search', placeholder: 'Search the documentation', autocomplete: 'off', spellcheck: false });
  input.setAttribute('aria-label', 'Search the documentation');
  const close = element('button', { type: 'button', textContent: 'Close' });
  const status = element('p', { role: 'status' });
  const results = element('ol', {});
  const bar = element('div', { className: 'bar' });
  bar.append(input, close);
  dialog.append(bar, status, results);
  document.body.append(dialog);

  input.addEventListener('input', show);
  close.addEventListener('click', () => dialog.close());
  // A click outside of the dialog has the dialog as its target.
  dialog.addEventListener('click', ({ target }) => (target === dialog || target.closest('a')) && dialog.close());
  dialog.addEventListener('keydown', moveFocus);
  return { dialog, input, status, results };
}

async function open() {
  if (!dialog.open) dialog.showModal();
  input.select();
  if (index) return;
  const [{ default: MiniSearch }, search] = await Promise.all(
    ['minisearch.js', 'search-index.js'].map((file) => import(new URL(file, import.meta.url))),
  );
  index = MiniSearch.loadJS(search.index, search.options);
  show();
}

/** Shows the results. Each result contains all terms or, if there is none, any of them. */
function show() {
  const query = input.value.trim();
  if (!index) return;
  const options = { prefix: true, fuzzy: ({ length }) => (length > 4 ? 0.2 : 0), boost: { page: 3, heading: 4 } };
  const all = index.search(query, { ...options, combineWith: 'AND' });
  const found = all.length > 0 ? all : index.search(query, options);
  const shown = found.slice(0, MAX_RESULTS);
  status.textContent = query === '' ? '' : shown.length === 0 ? 'No results' : shown.length === 1 ? '1 result' : `${shown.length} results`;
  results.replaceChildren(...shown.map(resultItem));
}

function resultItem({ page, heading, text, url, terms }) {
  const link = element('a', { href: new URL(url, PAGES).href });
  const title = element('strong', {});
  title.append(...marked(heading || page, terms));
  const snippet = element('span', {});
  snippet.append(...marked(snippetOf(text, terms), terms));
  link.append(title, ...(heading ? [element('em', { textContent: page })] : []), snippet);
  const item = element('li', {});
  item.append(link);
  return item;
}

/** Returns the part of a text around the first term. */
function snippetOf(text, terms) {
  const found = Math.max(0, text.search(patternOf(terms)));
  const start = found < SNIPPET_LENGTH / 2 ? 0 : text.lastIndexOf(' ', found - SNIPPET_LENGTH / 3) + 1;
  const part = text.slice(start, start + SNIPPET_LENGTH);
  const isCut = start + SNIPPET_LENGTH < text.length;
  return (start > 0 ? '… ' : '') + (isCut ? `${part.slice(0, part.lastIndexOf(' '))} …` : part);
}

/** Returns the text with the terms in `mark` elements. */
function marked(text, terms) {
  return text.split(patternOf(terms)).map((part, position) => (position % 2 === 1 ? element('mark', { textContent: part }) : part));
}

function patternOf(terms) {
  return new RegExp(`\\b(${terms.map((term) => term.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|')})`, 'iu');
}

/** The arrow keys move between the input and the results. Enter in the input opens the first result. */
function moveFocus(event) {
  const links = [...results.querySelectorAll('a')];
  if (event.key === 'Enter' && event.target === input) return links[0]?.click();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const targets = [input, ...links];
  targets[Math.min(targets.length - 1, Math.max(0, targets.indexOf(event.target) + step))].focus();
}

function element(name, properties) {
  return Object.assign(document.createElement(name), properties);
}
