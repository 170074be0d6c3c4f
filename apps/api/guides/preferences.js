// Runs before the page is shown: applies the theme and the language of samples that the reader chose earlier.
(() => {
  const { classList, dataset, style } = document.documentElement;
  const systemTheme = matchMedia('(prefers-color-scheme: dark)');

  /** Uses the storage. If the browser blocks it, a choice only applies to this page. */
  function tryStorage(use) {
    try {
      return use(localStorage) ?? undefined;
    } catch {
      return undefined;
    }
  }

  function show(name, value) {
    dataset[name] = value;
    if (name !== 'theme') return;
    style.colorScheme = value;
    // Class name of Swagger UI.
    classList.toggle('dark-mode', value === 'dark');
  }

  const stored = (name) => tryStorage((storage) => storage.getItem(name));
  const showTheme = () => show('theme', stored('theme') ?? (systemTheme.matches ? 'dark' : 'light'));

  classList.add('js');
  show('language', stored('language') ?? 'sh');
  showTheme();
  systemTheme.addEventListener('change', showTheme);

  window.choose = (name, value) => {
    show(name, value);
    tryStorage((storage) => storage.setItem(name, value));
  };
})();
