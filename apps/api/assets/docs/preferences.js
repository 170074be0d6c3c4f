// Runs before the page is shown: sets the theme and the language of samples that the reader chose earlier.
(() => {
  const root = document.documentElement;
  const systemTheme = matchMedia('(prefers-color-scheme: dark)');

  function stored(name) {
    try {
      return localStorage.getItem(name);
    } catch {
      // Ignored: the browser blocks storage.
      return null;
    }
  }

  function applyTheme() {
    const theme = stored('theme') ?? (systemTheme.matches ? 'dark' : 'light');
    root.dataset.theme = theme;
    // Class name of Swagger UI.
    root.classList.toggle('dark-mode', theme === 'dark');
  }

  root.classList.add('js');
  root.dataset.language = stored('language') ?? 'sh';
  applyTheme();
  systemTheme.addEventListener('change', applyTheme);

  window.preferences = {
    setTheme: (theme) => store('theme', theme),
    setLanguage: (language) => store('language', language),
  };

  function store(name, value) {
    try {
      localStorage.setItem(name, value);
    } catch {
      // Ignored: the choice then only applies to this page.
    }
    root.dataset[name] = value;
    if (name === 'theme') root.classList.toggle('dark-mode', value === 'dark');
  }
})();
