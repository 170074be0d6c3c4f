/** What the arguments of `nx run-many` or `nx affected` name. */
export interface RequestedTasks {
  readonly command: 'run-many' | 'affected';
  readonly targets: readonly string[];
  /** Names and patterns. Empty for all projects. */
  readonly projects: readonly string[];
}

const OPTIONS = [
  ['targets', /^(?:-t|--targets?)(?:=(?<value>.*))?$/],
  ['projects', /^(?:-p|--projects?)(?:=(?<value>.*))?$/],
] as const;

/** Returns undefined for other commands. */
export function requestedTasks(argv: readonly string[]): RequestedTasks | undefined {
  const start = argv.findIndex((argument) => argument === 'run-many' || argument === 'affected');
  if (start === -1) return undefined;
  const requested: { readonly targets: string[]; readonly projects: string[] } = { targets: [], projects: [] };
  let current: string[] | undefined;
  // The arguments after `--` are those of the tasks.
  const end = argv.indexOf('--');
  for (const argument of argv.slice(start + 1, end === -1 ? undefined : end)) {
    const option = OPTIONS.find(([, pattern]) => pattern.test(argument));
    if (argument.startsWith('-')) current = option && requested[option[0]];
    const values = option ? (option[1].exec(argument)?.groups?.['value'] ?? '') : argument;
    if (option ?? !argument.startsWith('-')) current?.push(...values.split(',').filter((value) => value !== ''));
  }
  return { command: argv[start] as RequestedTasks['command'], ...requested };
}

/** Projects by name, with their targets. */
export type Workspace = Readonly<Record<string, readonly string[]>>;

/** Throws if a target or project does not exist: Nx would ignore it and succeed. */
export function checkNames({ targets, projects }: RequestedTasks, workspace: Workspace): void {
  if (targets.length === 0) throw new Error('Name a suite or a target. docs/commands.md lists the suites.');
  const existing = new Set(Object.values(workspace).flat());
  for (const target of targets)
    if (!existing.has(target)) throw new Error(`No project has the target "${target}". docs/commands.md lists the suites.`);
  for (const project of projects)
    if (/^[\w-]+$/.test(project) && !(project in workspace)) throw new Error(`No project is named "${project}".`);
}

/** Throws if `run-many` ran nothing, or if no test ran although tests were requested. */
export function checkTasks({ command, targets }: RequestedTasks, ranTargets: readonly string[]): void {
  if (command === 'affected') return;
  if (ranTargets.length === 0) throw new Error(`Nothing ran: no selected project has the target ${targets.join(' or ')}.`);
  if (targets.includes('test') && !ranTargets.includes('test')) throw new Error('No test ran: no selected project has tests.');
}
