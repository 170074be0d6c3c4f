import type { PublicUrl } from '@animal-store/http-contract';
import type { FastifyContextConfig, FastifyRequest } from 'fastify';

/** Returns the `Link` header (RFC 8288) with the URL of the explanation of an error code. */
export function helpLink(publicUrl: PublicUrl, code: string): string {
  return `<${publicUrl.of(`/docs/errors#${code}`)}>; rel="help"`;
}

/** Returns `Link` with the help link and, on a deprecated route, the deprecation headers, which its hook may not have set yet. */
export function errorHeaders(request: FastifyRequest, help: string): Readonly<Record<string, string>> {
  const announcement = announcementOf(request);
  return announcement ? { ...announcement, link: `${announcement.link}, ${help}` } : { link: help };
}

/** Returns the deprecation headers of a deprecated route. Nest responds with 404, as to an unknown path, if a path parameter is empty. */
export function announcementOf({ routeOptions, params }: FastifyRequest): FastifyContextConfig['announcement'] {
  const { announcement: announced } = routeOptions.config;
  return announced && !Object.values(params as object).includes('') ? announced : undefined;
}
