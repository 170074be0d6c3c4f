// Full-text search of the pages and operations. The index is loaded when the dialog is first opened.
const MAX_RESULTS = 12;
const SNIPPET_LENGTH = 140;
/** The folder of the pages. */
const PAGES = new URL('..', import.meta.url);

let index;
const dialog = document.querySelector('dialog');
const [input, status, results] = ['input', 'p', 'ol'].map((name) => dialog.querySelector(name));

document.querySelector('button.search').addEventListener('click', open);
document.addEventListener('keydown', (event) => {
  const isCommand = event.ctrlKey || event.metaKey;
  const isTyping = event.target.closest('input, textarea, select, [contenteditable], dialog');
  if (event.altKey || !(isCommand ? event.key.toLowerCase() === 'k' : event.key === '/' && !isTyping)) return;
  event.preventDefault();
  open();
});
input.addEventListener('input', show);
dialog.addEventListener('click', ({ target }) => target.closest('a, button') && dialog.close());
dialog.addEventListener('keydown', moveFocus);

async function open() {
  if (!dialog.open) dialog.showModal();
  input.select();
  if (index) return;
  const [{ default: MiniSearch }, search] = await Promise.all([import('./minisearch.js'), import('./search-index.js')]);
  index = MiniSearch.loadJS(search.index, search.options);
  show();
}

/** Shows the results. Each result contains all terms or, if there is none, any of them. */
function show() {
  if (!index) return;
  const query = input.value.trim();
  const options = { prefix: true, fuzzy: ({ length }) => (length > 4 ? 0.2 : 0), boost: { page: 3, heading: 4 } };
  options.boostDocument = (_id, _term, { weight }) => weight;
  const all = index.search(query, { ...options, combineWith: 'AND' });
  const found = (all.length > 0 ? all : index.search(query, options)).slice(0, MAX_RESULTS);
  status.textContent = query && (found.length === 1 ? '1 result' : `${found.length || 'No'} results`);
  results.replaceChildren(...found.map(resultItem));
}

function resultItem({ page, heading, text, url, terms }) {
  const pattern = new RegExp(`\\b(${terms.map((term) => term.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|')})`, 'iu');
  const link = element('a', ...[element('strong', ...marked(heading || page, pattern)), heading && ` · ${page}`].filter(Boolean));
  link.append(element('span', ...marked(snippetOf(text, pattern), pattern)));
  link.href = new URL(url, PAGES).href;
  return element('li', link);
}

/** Returns the part of a text around the first match. */
function snippetOf(text, pattern) {
  const found = Math.max(0, text.search(pattern));
  const start = found < SNIPPET_LENGTH / 2 ? 0 : text.lastIndexOf(' ', found - SNIPPET_LENGTH / 3) + 1;
  const part = text.slice(start, start + SNIPPET_LENGTH);
  const isCut = start + SNIPPET_LENGTH < text.length;
  return (start > 0 ? '… ' : '') + (isCut ? `${part.slice(0, part.lastIndexOf(' '))} …` : part);
}

/** Returns the text with the matches in bold. */
function marked(text, pattern) {
  return text.split(pattern).map((part, position) => (position % 2 === 1 ? element('b', part) : part));
}

/** The arrow keys move between the input and the results. Enter in the input opens the first result. */
function moveFocus(event) {
  const links = [...results.querySelectorAll('a')];
  if (event.key === 'Enter' && event.target === input) return links[0]?.click();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const targets = [input, ...links];
  targets[Math.min(links.length, Math.max(0, targets.indexOf(event.target) + step))].focus();
}

function element(name, ...content) {
  const created = document.createElement(name);
  created.append(...content);
  return created;
}
