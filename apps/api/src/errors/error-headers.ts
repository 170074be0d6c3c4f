import type { PublicUrl } from '@animal-store/http-contract';
import type { FastifyRequest } from 'fastify';
import { announcementOf } from '../server/announce-deprecations.js';

/** Returns the `Link` header (RFC 8288) with the URL of the explanation of an error code. */
export function helpLink(publicUrl: PublicUrl, code: string): string {
  return `<${publicUrl.of(`/docs/errors#${code}`)}>; rel="help"`;
}

/** Returns `Link` with the help link and, on a deprecated route, the deprecation headers, which its hook may not have set yet. */
export function errorHeaders(request: FastifyRequest, help: string): Readonly<Record<string, string>> {
  const announcement = announcementOf(request);
  return announcement ? { ...announcement, link: `${announcement.link}, ${help}` } : { link: help };
}
