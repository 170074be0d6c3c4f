import type { PublicUrl } from '@animal-store/http-contract';

/** Returns the `Link` of an error to the explanation of its code (RFC 8288). */
export function helpLink(publicUrl: PublicUrl, code: string): string {
  return `<${publicUrl.of(`/docs/errors#${code}`)}>; rel="help"`;
}
