import { poolOf, replicasOf, targetOf } from '@animal-store/database';
import { type Attributes, SpanKind, type Tracer } from '@opentelemetry/api';
import type { DataSource, QueryRunner } from 'typeorm';
import { runInSpan } from './run-in-span.js';

interface Statement {
  /** Name of a prepared statement. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

type Query = (...args: readonly unknown[]) => unknown;

const FIRST_WORD = /^\s*(\w+)/;

/**
 * Creates a CLIENT span for each statement, from the wait for a connection to the result. Wraps `query`, because callbacks of the pool
 * run in the context of the request that released the connection.
 */
export function traceStatements(dataSource: DataSource, tracer: Tracer): void {
  const server = serverAttributes(dataSource);
  const traced = ({ name, text, values }: Statement, work: () => unknown, serverOf: Attributes = server): unknown => {
    const summary = name ?? FIRST_WORD.exec(text)?.[1]?.toUpperCase() ?? 'statement';
    // A text without parameters may contain values.
    const isParametrised = name !== undefined || (values !== undefined && values.length > 0);
    const attributes = { ...serverOf, 'db.query.summary': summary, ...(isParametrised && { 'db.query.text': text.trim() }) };
    return runInSpan(tracer, summary, { kind: SpanKind.CLIENT, attributes }, work);
  };

  // The replica that runs a statement is not known in advance.
  const { 'server.address': _address, 'server.port': _port, ...anyServer } = server;
  for (const [executor, serverOf] of [
    [poolOf(dataSource), server],
    [replicasOf(dataSource), anyServer],
  ] as [{ query: Query } | undefined, Attributes][]) {
    if (!executor) continue;
    const query = executor.query.bind(executor);
    executor.query = (...args) => {
      const statement = statementOf(args);
      return statement ? traced(statement, () => query(...args), serverOf) : query(...args);
    };
  }

  const { driver } = dataSource;
  const createQueryRunner = driver.createQueryRunner.bind(driver);
  driver.createQueryRunner = (mode) => {
    const runner = createQueryRunner(mode);
    const run = runner.query.bind(runner);
    runner.query = ((text, values, useStructuredResult) =>
      traced({ text, ...(Array.isArray(values) && { values }) }, () => run(text, values, useStructuredResult))) as QueryRunner['query'];
    return runner;
  };
}

/** Returns the statement, or undefined if the caller passes a callback instead of awaiting a promise. */
function statementOf([query, values, callback]: readonly unknown[]): Statement | undefined {
  if (typeof values === 'function' || typeof callback === 'function') return undefined;
  const given = Array.isArray(values) ? { values } : {};
  if (typeof query === 'string') return { text: query, ...given };
  return typeof query === 'object' && query !== null && 'text' in query ? { ...given, ...(query as Statement) } : undefined;
}

/** Returns the attributes of the database, without the server if there are several, as the pool chooses one per connection. */
function serverAttributes(dataSource: DataSource): Attributes {
  const { servers, database } = targetOf(dataSource);
  const [server, ...others] = servers;
  return {
    'db.system.name': 'postgresql',
    ...(database !== undefined && { 'db.namespace': database }),
    ...(others.length === 0 && { 'server.address': server.host, 'server.port': server.port }),
  };
}
