const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

/** Makes `JSON.stringify` write a bigint as a number. */
function toJSON(this: bigint): object {
  return rawJSON(String(this));
}
Object.assign(BigInt.prototype, { toJSON });

/** Returns integers that a number cannot hold as text, which `BigInt()` reads exactly. */
export async function exactFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  const text = await response.text();
  // `any`, because TypeScript does not know the third parameter of a reviver.
  const keepDigits = (...[, value, { source }]: any[]) => (Number.isInteger(value) && !Number.isSafeInteger(value) ? source : value);
  return new Response(text && JSON.stringify(JSON.parse(text, keepDigits)), response);
}

/** Reads identifiers as bigints: the `jsonReviver` of Orval. `any` as above. */
export const exactIds = (...[name, value, { source }]: any[]) => (/^id$|Id$/.test(name) ? BigInt(source) : value);
