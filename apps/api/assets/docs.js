/* global SwaggerUIBundle */
// Swagger UI parses JSON with JSON.parse, which rounds integers beyond 2^53. These plugins show all digits.

/** Exact integers of the document, by their rounded values. Swagger UI gets them as strings. */
const exactIntegers = new Map();

async function loadDocument() {
  const response = await fetch('openapi.json');
  return JSON.parse(await response.text(), (_key, value, context) => {
    if (!context || !Number.isInteger(value) || Number.isSafeInteger(value)) return value;
    exactIntegers.set(String(value), context.source);
    return context.source;
  });
}

const ExactExamples = () => ({
  afterLoad({ fn }) {
    const { getSampleSchema } = fn;
    fn.getSampleSchema = (...args) => {
      const sample = getSampleSchema(...args);
      return typeof sample === 'string' ? sample.replace(/-?[0-9]{16,}/g, (digits) => exactIntegers.get(digits) ?? digits) : sample;
    };
  },
});

const ExactResponses = () => ({
  wrapComponents: {
    responseBody:
      (Original, { React }) =>
      (props) => {
        const text = indent(props.content);
        if (text === undefined) return React.createElement(Original, props);
        return React.createElement(props.getComponent('HighlightCode', true), { language: 'json', canCopy: true }, text);
      },
  },
});

/** Returns indented JSON with exact numbers, or undefined if the content is not JSON text. */
function indent(content) {
  try {
    const exact = JSON.parse(content, (_key, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source) : value));
    return JSON.stringify(exact, null, 2);
  } catch {
    return undefined;
  }
}

void loadDocument().then((spec) =>
  SwaggerUIBundle({
    // The Content-Security-Policy allows requests to this service only.
    spec: { ...spec, servers: [{ url: new URL('v1', location.href).href }] },
    dom_id: '#reference',
    deepLinking: true,
    tryItOutEnabled: true,
    validatorUrl: null,
    plugins: [ExactExamples, ExactResponses],
  }),
);
