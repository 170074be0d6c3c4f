import type { Deprecation, PublicUrl } from '@animal-store/http-contract';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Logger } from 'pino';
import { HTTP_ERRORS, HttpError } from '../errors/http-errors.js';
import { requestLog } from '../logging/request-log.js';
import { parseTraceParent } from '../tracing/trace-parent.js';
import { endConnection, isConnectionEnded } from './ended-connections.js';
import type { RouteTable } from './route-table.js';

const MAX_TARGET_LENGTH = 4096;
const MAX_HEADER_FIELDS = 64;
/** RFC 9112, section 3.2: uri-host [ ":" port ], a list being a repeated field. */
const HOST = /^[^\s,/?#@]*$/;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The headers that announce the deprecation of the route. */
    announcement?: Readonly<Record<string, string>>;
  }
  interface FastifyRequest {
    /** Of the trace that the request belongs to: the caller's, or one that begins here. */
    traceId: string | undefined;
  }
}

/** What happens to every request before Nest sees it and after its answer: headers, limits, OPTIONS, the log line. */
export function observeRequests(
  fastify: FastifyInstance,
  { routes, logger, publicUrl }: { routes: RouteTable; logger: Logger; publicUrl: PublicUrl },
): void {
  fastify.decorateRequest('traceId', undefined);
  fastify.addHook('onRequest', (request, reply, done) => {
    const { traceparent } = request.raw.headers;
    if (traceparent !== undefined) request.traceId ??= parseTraceParent(traceparent)?.traceId;
    reply.header('X-Request-Id', request.id).header('X-Content-Type-Options', 'nosniff');
    const refusal = refusalOf(request, reply);
    if (refusal) {
      done(refusal);
      return;
    }
    if (request.method === 'OPTIONS' && !isPreflight(request)) {
      const allow = routes.allowedMethods(request.url);
      if (allow !== undefined) {
        void reply.code(204).header('Allow', allow).send();
        return;
      }
    }
    done();
  });

  fastify.addHook('onRoute', (route) => {
    const deprecation = route.config?.deprecation;
    if (!deprecation) return;
    const announced = announcement(deprecation, publicUrl);
    route.config = { ...route.config, announcement: announced };
    const announce: onRequestHookHandler = (_request, reply, done) => {
      reply.headers(announced);
      done();
    };
    route.onRequest = [announce, ...[route.onRequest ?? []].flat()];
  });

  const log = requestLog(logger);
  fastify.addHook('onResponse', (request, reply, done) => {
    log(request, reply);
    done();
  });
}

/** Left to @fastify/cors where origins are configured; elsewhere it ends as an OPTIONS like any other. */
function isPreflight({ raw, server }: FastifyRequest): boolean {
  return raw.headers['access-control-request-method'] !== undefined && server.hasRequestDecorator('corsPreflightEnabled');
}

function announcement({ deprecatedAt, removedAt, successor }: Deprecation, publicUrl: PublicUrl): Record<string, string> {
  return {
    Deprecation: `@${String(deprecatedAt.getTime() / 1000)}`,
    Sunset: removedAt.toUTCString(),
    Link: `<${publicUrl.of(successor)}>; rel="successor-version"`,
  };
}

function refusalOf({ raw, url }: FastifyRequest, reply: FastifyReply): HttpError | undefined {
  const { host, upgrade } = raw.headers;
  const end = () => {
    endConnection(raw.socket);
    reply.header('Connection', 'close');
  };
  if (isConnectionEnded(raw.socket)) {
    end();
    return new HttpError(HTTP_ERRORS.malformedRequest, 'An earlier request has ended this connection.');
  }
  // It is served as what it is, but Node drops what has arrived behind it: what comes next may begin in the middle of a body.
  if (upgrade !== undefined) end();
  // Node's parser takes a request line without a version for HTTP/0.9.
  if (raw.httpVersionMajor < 1) {
    end();
    return new HttpError(HTTP_ERRORS.malformedRequest);
  }
  if ((host === undefined && raw.httpVersion === '1.1') || (host !== undefined && !HOST.test(host))) {
    end();
    return new HttpError(HTTP_ERRORS.malformedRequest, 'The request needs exactly one valid Host header.');
  }
  if (url.length > MAX_TARGET_LENGTH) return new HttpError(HTTP_ERRORS.uriTooLong);
  if (raw.rawHeaders.length > 2 * MAX_HEADER_FIELDS) return new HttpError(HTTP_ERRORS.headersTooLarge);
  return undefined;
}
