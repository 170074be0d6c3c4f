import { variables } from './config.js';

/** Variables of OpenTelemetry with values that its SDK reads. OTEL_EXPORTER_OTLP_TIMEOUT and others also exist with TRACES_. */
const OTEL_SDK =
  /^OTEL_(?:RESOURCE_ATTRIBUTES=[^=,]+=|SERVICE_NAME=|EXPORTER_OTLP_(?:TRACES_)?(?:HEADERS=[^=,]+=|TIMEOUT=0*[1-9]\d*$|COMPRESSION=(?:gzip|none)$|CERTIFICATE=|CLIENT_CERTIFICATE=|CLIENT_KEY=))/;

/** Standard variables that have no effect, with what to use instead. Node.js itself honours TZ, NODE_OPTIONS and NODE_EXTRA_CA_CERTS. */
const IGNORED: readonly (readonly [name: RegExp, instead: string])[] = [
  [/^OTEL_/, 'its value is invalid, or it is not supported'],
  [/^(?:HTTPS?|ALL|NO)_PROXY$/i, 'the service connects directly to PostgreSQL, Redis and the collector'],
  [/^SSL_CERT_(?:FILE|DIR)$/, 'use NODE_EXTRA_CA_CERTS'],
  [/^WEB_CONCURRENCY$/, 'run more processes, on one port with REUSE_PORT'],
  [/^LISTEN_FDS$/, 'the service listens on HOST and PORT itself'],
  [/^NOTIFY_SOCKET$/, 'the unit of systemd must not have Type=notify'],
  [/^FORCE_COLOR$/, 'log lines have no colours'],
];

/** Returns one line for each standard variable that is set and has no effect. */
export function describeIgnored(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env)
    .filter((name) => env[name] && !(name in variables) && !OTEL_SDK.test(`${name}=${(env[name] ?? '').trim()}`))
    .flatMap((name) => {
      const [, instead] = IGNORED.find(([pattern]) => pattern.test(name)) ?? [];
      return instead === undefined ? [] : `${name} has no effect: ${instead}`;
    });
}
