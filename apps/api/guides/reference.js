/* global SwaggerUIBundle */
const base = new URL('..', location.href);
const service = new URL('v1', base).href;

/** Exact integers of the document beyond 2^53, by their rounded values. Swagger UI gets them as strings. */
const exactIntegers = new Map();
const description = JSON.parse(await (await fetch(new URL('openapi.json', base))).text(), (_key, value, context) => {
  if (!context || !Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  exactIntegers.set(String(value), context.source);
  return context.source;
});

for (const { description: name, url } of description.servers) {
  const entry = document.createElement('p');
  entry.textContent = `${name}: ${new URL(url, base).href}`;
  document.getElementById('reference').before(entry);
}

for (const operation of Object.values(description.paths).flatMap((item) => Object.values(item))) {
  operation.responses = collapsed(operation.responses);
}

new MutationObserver(nameControls).observe(document.getElementById('reference'), { childList: true, subtree: true });

SwaggerUIBundle({
  // The Content-Security-Policy only allows requests to this service.
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

/** Returns the responses with all errors as one, and without the headers that every response has, which the page lists above. */
function collapsed(responses) {
  const { responses: shared } = description.components;
  const [errors, others] = [[], {}];
  for (const [status, response] of Object.entries(responses)) {
    const { headers = {}, content } = shared[response.$ref?.split('/').at(-1)] ?? response;
    const own = Object.entries(headers).filter(([, { $ref }]) => !$ref);
    if (status < '400') others[status] = { ...response, headers: Object.fromEntries(own) };
    else errors.push(...Object.keys(content['application/json'].examples ?? {}).map((code) => `- ${status} [${code}](errors#${code})`));
  }
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  return errors.length > 0 ? { ...others, default: { description: errors.join('\n'), content } } : others;
}

/** Replaces Swagger UI's layout, which has a second `main`, and its links inside buttons, which screen readers cannot read. */
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

/** Adds names and keyboard access to elements where Swagger UI lacks them. */
function nameControls() {
  const each = (selector, change) => document.querySelectorAll(`#reference ${selector}`).forEach(change);
  each('textarea.body-param__text', (text) => text.setAttribute('aria-label', 'Request body'));
  each('select.examples-select-element', (select) => select.setAttribute('aria-label', 'Example'));
  each('tr[data-param-name] select', (select) => select.setAttribute('aria-label', select.closest('tr').dataset.paramName));
  each('pre.microlight', (block) => (block.tabIndex = 0));
  each('.responses-table[role=region]', (table) => table.removeAttribute('role'));
}

/** Shows exact integers in examples, which Swagger UI rounds. */
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

/** Shows exact integers in responses. Swagger UI rounds them, because it uses JSON.parse. */
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

/** Returns indented JSON with exact numbers, or the unchanged text if the browser does not support this. */
function indented(content) {
  if (typeof content !== 'string') return undefined;
  try {
    const exact = JSON.parse(content, (_key, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source) : value));
    return JSON.stringify(exact, null, 2);
  } catch {
    return content;
  }
}
