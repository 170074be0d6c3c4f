import { validateHeaderName, validateHeaderValue } from 'node:http';
import { isDatabaseUnavailable } from '@animal-store/database';
import { INVALID_REQUEST, PublicUrl } from '@animal-store/http-kit';
import { DomainError } from '@animal-store/kernel';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Inject } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import {
  ACCEPT_PATCH,
  errorBody,
  errorOfStatus,
  helpLink,
  HTTP_ERRORS,
  HttpError,
  type RequestError,
  RETRY_AFTER_SECONDS,
  SERVICE_UNAVAILABLE,
} from '../errors/http-errors.js';
import { LOGGER } from '../observability/logger.js';
import { RouteTable } from './routes.js';

/** Converts everything that is thrown into an error response. Unexpected errors are logged and sent as `internal_error`. */
@Catch()
export class ApiExceptionFilter implements ExceptionFilter {
  constructor(
    @Inject(RouteTable) private readonly routes: Pick<RouteTable, 'allowedMethods'>,
    private readonly publicUrl: PublicUrl,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const error = this.toPublicError(exception, request, reply);
    const body = errorBody(error);
    if (body.status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS);
    if ('definition' in error && error.definition === HTTP_ERRORS.unsupportedPatch) reply.header('accept-patch', ACCEPT_PATCH);
    const help = helpLink(this.publicUrl, body.code);
    // What describes a body that could not be sent must not stay, nor what Node.js cannot send.
    const headers = body.status === 500 ? Object.entries(reply.getHeaders()) : [];
    const unsendable = headers.flatMap(([name, value]) => (isSendable(name, value) ? [] : name));
    for (const name of ['etag', 'content-disposition', ...unsendable]) {
      reply.removeHeader(name);
      if (!reply.raw.headersSent) reply.raw.removeHeader(name);
    }
    if (help === undefined) reply.removeHeader('link');
    else reply.header('link', help);
    request.errorCode = body.code;
    // Errors that were thrown on purpose, without a cause, only appear in the request's log line.
    if (body.status >= 500 && (error !== exception || error.cause !== undefined))
      this.logger.error({ requestId: request.id, err: exception, code: body.code }, 'request failed');
    void reply
      .code(body.status)
      .headers({ 'cache-control': 'no-store', 'content-type': 'application/json' })
      .serializer(JSON.stringify)
      .send(body);
  }

  private toPublicError(exception: unknown, request: FastifyRequest, reply: FastifyReply): RequestError {
    if (exception instanceof DomainError) return withHeaderViolations(exception, request);
    if (exception instanceof HttpError) return exception;
    if (isDatabaseUnavailable(exception)) return new DomainError(SERVICE_UNAVAILABLE);
    if (!(exception instanceof HttpException)) return new HttpError(HTTP_ERRORS.internalError);
    // Nest throws a NotFoundException if no route matches.
    return request.is404 ? this.notFound(request, reply) : errorOfStatus(exception.getStatus());
  }

  private notFound(request: FastifyRequest, reply: FastifyReply): HttpError {
    const allow = this.routes.allowedMethods(request.url);
    if (allow === undefined || allow.split(', ').includes(request.method)) return new HttpError(HTTP_ERRORS.routeNotFound);
    reply.header('allow', allow);
    return new HttpError(HTTP_ERRORS.methodNotAllowed);
  }
}

function isSendable(name: string, value: unknown): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, String(value));
    return true;
  } catch {
    return false;
  }
}

/** Returns an error that names every violation of the request. */
function withHeaderViolations(error: DomainError, { headerViolations }: FastifyRequest): DomainError {
  if (!headerViolations || error.code !== INVALID_REQUEST.code) return error;
  return new DomainError(INVALID_REQUEST, [...new Set([...headerViolations, error.message])].join('; '));
}
