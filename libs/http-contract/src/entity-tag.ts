import { hash } from 'node:crypto';

/** The OpenAPI description of an ETag header. */
export const ETAG_HEADER = {
  description: 'Identifies the body and the `Link` header of this response (RFC 9110).',
  required: true,
  schema: { type: 'string' },
  example: '"2jmj7l5rSw0yVb_vlWAYkK_YBwk"',
} as const;

/** Returns the ETag of a response with this body and `Link` header. */
export function entityTagOf(content: string | Buffer, link?: string): string {
  return `"${hash('sha1', link === undefined ? content : withLink(content, link), 'base64url')}"`;
}

/** Clients store entity tags, so the form never changes. Concatenating costs less than a second digest. */
function withLink(content: string | Buffer, link: string): string | Buffer {
  return typeof content === 'string' ? `${content}\n${link}` : Buffer.concat([content, Buffer.from(`\n${link}`)]);
}
