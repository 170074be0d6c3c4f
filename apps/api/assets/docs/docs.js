const root = document.documentElement;

// Redirects old links to operations, from when the reference was at /docs.
if (document.body.classList.contains('home') && location.hash.startsWith('#/')) location.replace(`docs/reference${location.hash}`);

addThemeButton();
useOwnAddress();
// Browsers only allow pages with TLS or on localhost to write to the clipboard.
if (navigator.clipboard) {
  for (const block of document.querySelectorAll('.code:not(.output) pre')) addCopyButton(block);
  for (const anchor of document.querySelectorAll('.anchor')) copyLink(anchor);
}
for (const group of document.querySelectorAll('.samples')) enableTabs(group);
showLanguage(root.dataset.language);

function addThemeButton() {
  const button = document.querySelector('button.theme');
  const isDark = () => root.dataset.theme === 'dark';
  button.hidden = false;
  button.setAttribute('aria-pressed', isDark());
  button.addEventListener('click', () => {
    window.preferences.setTheme(isDark() ? 'light' : 'dark');
    button.setAttribute('aria-pressed', isDark());
  });
}

/** Replaces http://localhost:3000 in samples by the address of this service. */
function useOwnAddress() {
  const service = new URL(document.body.classList.contains('home') ? '.' : '..', location.href).href.replace(/\/$/, '');
  for (const code of document.querySelectorAll('pre code')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll('http://localhost:3000', service);
  }
}

function addCopyButton(block) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-live', 'polite');
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.textContent);
    button.textContent = 'Copied';
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  });
  block.before(button);
}

/** Copies the URL of a section when its anchor is followed. */
function copyLink(anchor) {
  anchor.addEventListener('click', async () => {
    await navigator.clipboard.writeText(anchor.href);
    anchor.textContent = 'Copied';
    setTimeout(() => (anchor.textContent = '#'), 2000);
  });
}

/** Makes the tabs of a group work, as in https://www.w3.org/WAI/ARIA/apg/patterns/tabs/ */
function enableTabs(group) {
  const tabs = [...group.querySelectorAll('[role=tab]')];
  const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
  for (const tab of tabs) {
    tab.addEventListener('click', () => choose(tab));
    tab.addEventListener('keydown', (event) => {
      const { key } = event;
      if (!Object.hasOwn(steps, key)) return;
      // Home and End would scroll the page.
      event.preventDefault();
      const index = tabs.indexOf(tab) + steps[key];
      const next = tabs[Math.abs(steps[key]) === 1 ? (index + tabs.length) % tabs.length : steps[key] < 0 ? 0 : tabs.length - 1];
      choose(next);
      next.focus();
    });
  }
}

/** Shows the language of a tab in all samples, and keeps the position of the tab on the screen. */
function choose(tab) {
  const before = tab.getBoundingClientRect().top;
  window.preferences.setLanguage(tab.dataset.language);
  showLanguage(tab.dataset.language);
  scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: 'instant' });
}

function showLanguage(language) {
  for (const group of document.querySelectorAll('.samples')) {
    const tabs = [...group.querySelectorAll('[role=tab]')];
    const shown = tabs.find((tab) => tab.dataset.language === language);
    // A sample without this language remains unchanged.
    if (!shown) continue;
    // On a phone, the tabs scroll.
    const list = shown.parentElement;
    list.scrollLeft = shown.offsetLeft - list.offsetLeft - (list.clientWidth - shown.offsetWidth) / 2;
    for (const tab of tabs) {
      tab.setAttribute('aria-selected', tab === shown);
      tab.tabIndex = tab === shown ? 0 : -1;
      document.getElementById(tab.getAttribute('aria-controls')).hidden = tab !== shown;
    }
  }
}
