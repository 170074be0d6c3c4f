import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';

declare global {
  interface JSON {
    /** ECMAScript 2026; not in TypeScript's library yet. */
    rawJSON(text: string): object;
  }
}

/** Writes what a handler returns as JSON with exact integers; text and streams go the way of the adapter. */
export class JsonAdapter extends FastifyAdapter {
  override reply(response: FastifyReply, body: unknown, statusCode?: number): FastifyReply {
    if (typeof body !== 'object' || body === null || 'pipe' in body) return super.reply(response, body, statusCode);
    if (statusCode !== undefined) response.code(statusCode);
    return response.header('Content-Type', 'application/json').send(toJson(body));
  }
}

/** JSON text in which a bigint is a JSON number, digit for digit. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? JSON.rawJSON(String(member)) : member));
}
