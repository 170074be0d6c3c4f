import { expect, it } from '@jest/globals';
import { describeIgnored } from './ignored-variables.js';

it.each([
  ...['OTEL_TRACES_SAMPLER', 'OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_SDK_DISABLED', 'OTEL_PROPAGATORS'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'https_proxy', 'no_proxy', 'ALL_PROXY', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['WEB_CONCURRENCY', 'LISTEN_FDS', 'NOTIFY_SOCKET', 'FORCE_COLOR'],
])('one line says that %s has no effect, without its value', (name) => {
  const [line = '', ...others] = describeIgnored({ [name]: 'http://user:secret@host' });
  expect(others).toEqual([]);
  expect(line).toMatch(new RegExp(`^${name} has no effect: `));
  expect(line).not.toContain('secret');
});

it.each([
  ...['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_SERVICE_NAME', 'OTEL_TRACES_SAMPLER_ARG', 'OTEL_RESOURCE_ATTRIBUTES'],
  ...['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_CERTIFICATE'],
  ...['TZ', 'NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'UV_THREADPOOL_SIZE', 'NO_COLOR', 'PGSSLROOTCERT', 'PGOPTIONS', 'PATH', 'PORT'],
])('%s is honoured, so no line is written', (name) => {
  expect(describeIgnored({ [name]: 'set' })).toEqual([]);
});

it('an empty variable counts as unset', () => {
  expect(describeIgnored({ HTTPS_PROXY: '' })).toEqual([]);
});
