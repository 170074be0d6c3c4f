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
  const digest = digestOf(content);
  // Hashed separately, because concatenation would copy the content.
  return `"${link === undefined ? digest : digestOf(digest + link)}"`;
}

function digestOf(content: string | Buffer): string {
  return hash('sha1', content, 'base64url');
}
