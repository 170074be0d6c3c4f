import { expect } from '@jest/globals';
import type { RawConnection } from '@animal-store/test-kit/raw-connection';

const PET = '{"name":"Rex","categoryId":7}';

/** Returns the bytes that a request begins with. */
export const head = (line: string, ...fields: string[]) => `${line} HTTP/1.1\r\nHost: x\r\n${fields.join('')}`;

/** Returns the bytes of a request that creates a pet. */
export const rawCreation = (authorization: string) =>
  `${head('POST /v1/pets', authorization, 'Content-Type: application/json\r\n')}Content-Length: ${String(PET.length)}\r\n\r\n${PET}`;

/** Reads responses until the server closes the connection. */
export async function readResponses(connection: RawConnection): Promise<string[]> {
  const all: string[] = [];
  for (let response; (response = await connection.read());) {
    all.push(`${String(response.status)} ${response.headers['connection'] ?? ''}`);
    expect(response.headers['content-type']).toBe('application/json');
  }
  return all;
}
