export interface WelcomeInput {
  /** http://localhost:3000 */
  readonly url: string;
  /** Of the service's own PostgreSQL; undefined with DATABASE_URL. */
  readonly local?: { readonly dataDir: string; readonly version: string; readonly apiKey: string } | undefined;
}

/** What the terminal shows when the service is up; its commands work as pasted. */
export function welcome({ url, local }: WelcomeInput): string {
  const key = local?.apiKey ?? '<API key>';
  const authorization = `-H ${quote(`Authorization: Bearer ${key}`)}`;
  const pet = `-H ${quote('Content-Type: application/json')} -d ${quote('{"name":"Rex","categoryId":1}')}`;
  const lines = [
    'Animal Store is running.',
    '',
    `Address   ${url}/v1`,
    `Docs      ${url}/docs`,
    ...(local
      ? [`Data      ${local.dataDir} (PostgreSQL ${local.version})`, `API key   ${local.apiKey}`]
      : ['Data      the database that DATABASE_URL names', 'API key   make one: npm run animal-store -- keys create --client <name>']),
    '',
    'List the animals, and add one:',
    '',
    `curl ${authorization} ${url}/v1/pets`,
    `curl ${authorization} ${pet} ${url}/v1/pets`,
    '',
    local ? 'Ctrl-C stops the service and its PostgreSQL; the data stays.' : 'Ctrl-C stops the service.',
  ];
  return `\n${lines.map((line) => `  ${line}`.trimEnd()).join('\n')}\n`;
}

/** sh takes single quotes, cmd.exe only double ones. */
function quote(text: string): string {
  return process.platform === 'win32' ? `"${text.replaceAll('"', String.raw`\"`)}"` : `'${text}'`;
}
