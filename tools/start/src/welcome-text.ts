/** The embedded PostgreSQL and its API key. */
interface LocalDatabase {
  readonly dataDir: string;
  readonly version: string;
  readonly apiKey: string;
}

/** Returns the text to print when the service listens. `local` is undefined if DATABASE_URL is set. The commands can be pasted into a shell. */
export function welcomeText(url: string, local?: LocalDatabase): string {
  const authorization = `-H ${quote(`Authorization: Bearer ${local?.apiKey ?? '<API key>'}`)}`;
  const pet = `-H ${quote('Content-Type: application/json')} -d ${quote('{"name":"Rex","categoryId":1}')}`;
  const lines = [
    'Animal Store is running.',
    '',
    `Address   ${url}/v1`,
    `Docs      ${url}/docs`,
    `Data      ${local ? `${local.dataDir} (PostgreSQL ${local.version})` : 'the database in DATABASE_URL'}`,
    `API key   ${local?.apiKey ?? 'create one: npm run animal-store -- keys create --client <name>'}`,
    '',
    'List the animals and add one:',
    '',
    `curl ${authorization} ${url}/v1/pets`,
    `curl ${authorization} ${pet} ${url}/v1/pets`,
    '',
    local ? 'Ctrl-C stops the service and PostgreSQL. The data stays.' : 'Ctrl-C stops the service.',
  ];
  return `\n${lines.map((line) => `  ${line}`.trimEnd()).join('\n')}\n`;
}

/** sh supports single quotes, cmd.exe only double quotes. */
function quote(text: string): string {
  return process.platform === 'win32' ? `"${text.replaceAll('"', String.raw`\"`)}"` : `'${text}'`;
}
