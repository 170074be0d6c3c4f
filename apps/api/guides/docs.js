const { dataset } = document.documentElement;
/** The address of this service, below which the pages are. */
const SERVICE = new URL('../..', import.meta.url).href.replace(/\/$/, '');

const theme = document.querySelector('button.theme');
theme.ariaPressed = dataset.theme === 'dark';
theme.addEventListener('click', () => {
  window.choose('theme', dataset.theme === 'dark' ? 'light' : 'dark');
  theme.ariaPressed = dataset.theme === 'dark';
});

for (const code of document.querySelectorAll('pre code')) {
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll('http://localhost:3000', SERVICE);
}

// Browsers only allow pages with TLS or on localhost to write to the clipboard.
if (navigator.clipboard) {
  for (const block of document.querySelectorAll('.code:not(.output) pre')) {
    const button = Object.assign(document.createElement('button'), { type: 'button', className: 'copy', textContent: 'Copy' });
    button.ariaLive = 'polite';
    block.before(button);
    copyOnClick(button, block.textContent);
  }
  for (const anchor of document.querySelectorAll('.anchor')) copyOnClick(anchor, anchor.href);
}

for (const group of document.querySelectorAll('.samples')) enableTabs([...group.querySelectorAll('[role=tab]')]);
showLanguage(dataset.language);

function copyOnClick(element, text) {
  const label = element.textContent;
  element.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text);
    element.textContent = 'Copied';
    setTimeout(() => (element.textContent = label), 2000);
  });
}

/** Makes the tabs of a group work, as in https://www.w3.org/WAI/ARIA/apg/patterns/tabs/ */
function enableTabs(tabs) {
  for (const [index, tab] of tabs.entries()) {
    const targets = { ArrowLeft: tabs.at(index - 1), ArrowRight: tabs[(index + 1) % tabs.length], Home: tabs[0], End: tabs.at(-1) };
    tab.addEventListener('click', () => choose(tab));
    tab.addEventListener('keydown', (event) => {
      if (!Object.hasOwn(targets, event.key)) return;
      // Home and End would scroll the page.
      event.preventDefault();
      choose(targets[event.key]);
      targets[event.key].focus();
    });
  }
}

/** Shows the language of a tab in all samples, and keeps the position of the tab on the screen. */
function choose(tab) {
  const before = tab.getBoundingClientRect().top;
  window.choose('language', tab.dataset.language);
  showLanguage(tab.dataset.language);
  scrollBy(0, tab.getBoundingClientRect().top - before);
}

/** A sample without this language remains unchanged. */
function showLanguage(language) {
  for (const shown of document.querySelectorAll(`[role=tab][data-language="${CSS.escape(language)}"]`)) {
    const list = shown.parentElement;
    // On a phone, the tabs scroll.
    list.scrollLeft = shown.offsetLeft - list.clientWidth / 2;
    for (const tab of list.children) {
      tab.ariaSelected = tab === shown;
      tab.tabIndex = tab === shown ? 0 : -1;
      document.getElementById(tab.getAttribute('aria-controls')).hidden = tab !== shown;
    }
  }
}
