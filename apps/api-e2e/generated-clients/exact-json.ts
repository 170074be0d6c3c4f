const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

/** The third argument of a reviver, which TypeScript does not know: the text of a value that is not an object. */
type Context = { source?: string };

/** Makes `JSON.stringify` write a bigint as a number. */
function toJSON(this: bigint): object {
  return rawJSON(String(this));
}
Object.assign(BigInt.prototype, { toJSON });

/** Returns integers that a number cannot hold as text, which `BigInt()` reads exactly. */
export async function exactFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  const text = await response.text();
  const keepDigits = (_name: string, value: unknown, context?: Context) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) ? context?.source : value;
  return new Response(text && JSON.stringify(JSON.parse(text, keepDigits)), response);
}

/** Reads identifiers as bigints: the `jsonReviver` of Orval. */
export const exactIds = (name: string, value: unknown, context?: Context) =>
  context?.source !== undefined && /^id$|Id$/.test(name) ? BigInt(context.source) : value;
