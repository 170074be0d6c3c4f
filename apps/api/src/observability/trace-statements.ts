import { poolOf, replicasOf, targetOf } from '@animal-store/database';
import { type Attributes, SpanKind, type Tracer } from '@opentelemetry/api';
import type { DataSource, QueryRunner } from 'typeorm';
import { inSpan } from './in-span.js';

interface Statement {
  /** Of a prepared statement. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

type Query = (...args: readonly unknown[]) => unknown;

const FIRST_WORD = /^\s*(\w+)/;

/**
 * A CLIENT span for each statement, from the wait for a connection to the result. Made where the statement is handed over: the pool's
 * own callbacks run in the context of whoever returned the connection.
 */
export function traceStatements(dataSource: DataSource, tracer: Tracer): void {
  const server = serverAttributes(dataSource);
  const traced = ({ name, text, values }: Statement, work: () => unknown, serverOf: Attributes = server): unknown => {
    const summary = name ?? FIRST_WORD.exec(text)?.[1]?.toUpperCase() ?? 'statement';
    // A text without parameters may hold values.
    const isParametrised = name !== undefined || (values !== undefined && values.length > 0);
    const attributes = { ...serverOf, 'db.query.summary': summary, ...(isParametrised && { 'db.query.text': text.trim() }) };
    return inSpan(tracer, summary, { kind: SpanKind.CLIENT, attributes }, work);
  };

  // Which of the replicas runs a statement is not known beforehand.
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

/** Undefined where the caller waits by other means than a promise. */
function statementOf([query, values, callback]: readonly unknown[]): Statement | undefined {
  if (typeof values === 'function' || typeof callback === 'function') return undefined;
  const given = Array.isArray(values) ? { values } : {};
  if (typeof query === 'string') return { text: query, ...given };
  return typeof query === 'object' && query !== null && 'text' in query ? { ...given, ...(query as Statement) } : undefined;
}

/** Of several servers, the pool chooses one for each connection. */
function serverAttributes(dataSource: DataSource): Attributes {
  const { servers, database } = targetOf(dataSource);
  const [server, ...others] = servers;
  return {
    'db.system.name': 'postgresql',
    ...(database !== undefined && { 'db.namespace': database }),
    ...(others.length === 0 && { 'server.address': server.host, 'server.port': server.port }),
  };
}
