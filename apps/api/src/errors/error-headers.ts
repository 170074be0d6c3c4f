import type { PublicUrl } from '@animal-store/http-contract';
import type { FastifyRequest } from 'fastify';

/** Returns the `Link` header (RFC 8288) with the URL of the explanation of an error code. */
export function helpLink(publicUrl: PublicUrl, code: string): string {
  return `<${publicUrl.of(`/docs/errors#${code}`)}>; rel="help"`;
}

/** Returns the headers of a deprecated route, if it is one, and `Link` with the help link. The route's hook may not have set them yet. */
export function errorHeaders({ routeOptions }: FastifyRequest, help: string): Readonly<Record<string, string>> {
  const { announcement } = routeOptions.config;
  return announcement ? { ...announcement, Link: `${announcement.Link}, ${help}` } : { Link: help };
}
