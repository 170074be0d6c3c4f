import { parseDatabaseUrl, readSecretUrl, type SecretUrl, type StatementInterceptor } from '@animal-store/database';
import { type Attributes, SpanKind, type Tracer } from '@opentelemetry/api';
import { runInSpan } from './run-in-span.js';

const FIRST_WORD = /^\s*(\w+)/;

/** Returns an interceptor that creates a CLIENT span for each statement, from the wait for a connection to the result. */
export function traceStatements(url: SecretUrl, tracer: Tracer): StatementInterceptor {
  let target: ReturnType<typeof describeTarget> | undefined;
  return ({ name, text, values, isReplicable }, run) => {
    target ??= describeTarget(url);
    const summary = name ?? FIRST_WORD.exec(text)?.[1]?.toUpperCase() ?? 'statement';
    // A text without parameters may contain values.
    const isParametrised = name !== undefined || (values !== undefined && values.length > 0);
    const attributes = {
      ...target.database,
      // The replica that runs a statement is not known in advance.
      ...(!isReplicable && target.server),
      'db.query.summary': summary,
      ...(isParametrised && { 'db.query.text': text.trim() }),
    };
    return runInSpan(tracer, summary, { kind: SpanKind.CLIENT, attributes }, run);
  };
}

/** Returns the attributes of the database and its server. Of several servers, the pool chooses one per connection, so they have none. */
function describeTarget(url: SecretUrl): { readonly database: Attributes; readonly server: Attributes } {
  const { servers, database } = parseDatabaseUrl(readSecretUrl(url));
  const [server, ...others] = servers;
  return {
    database: { 'db.system.name': 'postgresql', ...(database !== undefined && { 'db.namespace': database }) },
    server: others.length === 0 ? { 'server.address': server.host, 'server.port': server.port } : {},
  };
}
