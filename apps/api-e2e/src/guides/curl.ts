/** Implements the `curl` options of the guides, since `npm test` requires only npm. `npm run verify -- samples` uses the real curl. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    header: { type: 'string', short: 'H', multiple: true, default: [] },
    data: { type: 'string', short: 'd' },
    include: { type: 'boolean', short: 'i' },
    silent: { type: 'boolean', short: 's' },
    'dump-header': { type: 'string', short: 'D' },
    output: { type: 'string', short: 'o' },
  },
});
const [url, ...others] = positionals;
if (url === undefined || others.length > 0) throw new Error(`expected one URL: ${positionals.join(' ')}`);

const sent = request(url, { method: values.data === undefined ? 'GET' : 'POST' });
for (const header of values.header) {
  const [name = '', ...value] = header.split(': ');
  sent.setHeader(name, value.join(': '));
}
sent.end(values.data);
const [response] = (await once(sent, 'response')) as [IncomingMessage];
const headers = response.rawHeaders.map((part, index) => part + (index % 2 === 0 ? ': ' : '\r\n')).join('');
const head = `HTTP/${response.httpVersion} ${response.statusCode} ${response.statusMessage}\r\n${headers}\r\n`;
const chunks = (await response.toArray()) as Buffer[];
if (values.include || values['dump-header'] === '-') process.stdout.write(head);
if (values.output === undefined) process.stdout.write(Buffer.concat(chunks));
