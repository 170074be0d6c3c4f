import type { PublicUrl } from '@animal-store/http-contract';

/** Returns the `Link` header (RFC 8288) with the URL of the explanation of an error code. */
export function helpLink(publicUrl: PublicUrl, code: string): string {
  return `<${publicUrl.of(`/docs/errors#${code}`)}>; rel="help"`;
}
