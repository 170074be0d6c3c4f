import type { ExecutionContext } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Returns the context of a request to `handler` for a guard, and the response headers that the guard sets. */
export function guardContext(controller: new () => object, handler: string, request: Partial<FastifyRequest> = {}) {
  const headers: Record<string, string> = {};
  const reply = {
    header(name: string, value: string) {
      headers[name] = value;
      return reply;
    },
  } as FastifyReply;
  const method = (controller.prototype as Record<string, () => unknown>)[handler];
  const context: ExecutionContext = new ExecutionContextHost([{ headers: {}, ...request }, reply], controller, method);
  return { context, headers, request: context.switchToHttp().getRequest<FastifyRequest>() };
}
