/* global SwaggerUIBundle */
const base = new URL('..', location.href);
const service = new URL('v1', base).href;

/** The integers of the document beyond 2^53, by what JavaScript rounds them to. Swagger UI gets them as text. */
const exactIntegers = new Map();
const description = JSON.parse(await (await fetch(new URL('openapi.json', base))).text(), (_key, value, context) => {
  if (!context || !Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  exactIntegers.set(String(value), context.source);
  return context.source;
});

document
  .getElementById('addresses')
  .append(
    ...description.servers.map((server) => entry(server.description, new URL(server.url, base).href)),
    entry('Description', link('OpenAPI 3.1', '../openapi.json')),
  );

new MutationObserver(nameControls).observe(document.getElementById('reference'), { childList: true, subtree: true });

SwaggerUIBundle({
  // The page may only talk to the service that it comes from.
  spec: { ...description, servers: [{ url: service, description: 'This service' }] },
  dom_id: '#reference',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  syntaxHighlight: { theme: 'obsidian' },
  validatorUrl: null,
  plugins: [AccessibleLayout, ExactExamples, ExactResponses],
});

/** Swagger UI's own layout has a second `main`, and its links inside buttons cannot be read by screen readers. */
function AccessibleLayout() {
  return {
    wrapComponents: {
      BaseLayout:
        (_Original, { React, getComponent }) =>
        () => {
          const parts = [
            getComponent('SvgAssets'),
            ...['AuthorizeBtnContainer', 'operations', 'Models'].map((name) => getComponent(name, true)),
          ];
          return React.createElement('div', { className: 'swagger-ui' }, ...parts.map((part) => React.createElement(part)));
        },
      DeepLink:
        (_Original, { React }) =>
        ({ text }) =>
          React.createElement('span', null, text),
    },
  };
}

/** Swagger UI leaves these elements without a name or out of reach of the keyboard. */
function nameControls() {
  const each = (selector, change) => document.querySelectorAll(`#reference ${selector}`).forEach(change);
  each('textarea.body-param__text', (text) => text.setAttribute('aria-label', 'Request body'));
  each('select.examples-select-element', (select) => select.setAttribute('aria-label', 'Example'));
  each('tr[data-param-name] select', (select) => select.setAttribute('aria-label', select.closest('tr').dataset.paramName));
  each('pre.microlight', (block) => (block.tabIndex = 0));
  each('.responses-table[role=region]', (table) => table.removeAttribute('role'));
}

/** Swagger UI makes a number of each integer in an example, which rounds it. */
function ExactExamples() {
  const exact = (digits) => exactIntegers.get(digits) ?? digits;
  return {
    afterLoad({ fn }) {
      const { getSampleSchema } = fn;
      fn.getSampleSchema = (...args) => {
        const sample = getSampleSchema(...args);
        return typeof sample === 'string' ? sample.replace(/-?[0-9]{16,}/g, exact) : sample;
      };
    },
  };
}

/** Swagger UI reads an answer with JSON.parse before it shows it, which rounds integers beyond 2^53. */
function ExactResponses() {
  return {
    wrapComponents: {
      responseBody:
        (Original, { React }) =>
        (props) => {
          const text = indented(props.content);
          if (text === undefined) return React.createElement(Original, props);
          const HighlightCode = props.getComponent('HighlightCode', true);
          return React.createElement(
            HighlightCode,
            { language: 'json', downloadable: true, fileName: 'response.json', canCopy: true },
            text,
          );
        },
    },
  };
}

/** JSON with the numbers as they are written; a browser that cannot keep them gets the text as it is. */
function indented(content) {
  if (typeof content !== 'string') return undefined;
  try {
    const exact = JSON.parse(content, (_key, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source) : value));
    return JSON.stringify(exact, null, 2);
  } catch {
    return content;
  }
}

function entry(term, ...content) {
  return element('div', element('dt', term), element('dd', ...content));
}

function link(text, href) {
  const anchor = element('a', text);
  anchor.href = href;
  return anchor;
}

function element(name, ...content) {
  const created = document.createElement(name);
  created.append(...content);
  return created;
}
