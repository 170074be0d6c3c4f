import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export const WORKSPACE = join(import.meta.dirname, '../../../../..');
export const CHART = join(WORKSPACE, 'deploy/helm/animal-store');

export const readWorkspaceFile = (file: string): string => readFileSync(join(WORKSPACE, file), 'utf8');
export const readChartFile = (file: string): string => readFileSync(join(CHART, file), 'utf8');

interface Values {
  readonly config: Readonly<Record<string, string | number | boolean>>;
}

export const readValues = (file: string): Values => parse(readChartFile(file)) as Values;

export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

export const RULE_FILES = ['rules.yml', 'postgres-rules.yml'] as const;
export const rules: readonly Rule[] = RULE_FILES.flatMap((name) =>
  (parse(readChartFile(`prometheus/${name}`)) as RuleFile).groups.flatMap((group) => group.rules),
);
export const alerts: readonly (Rule & { readonly alert: string })[] = rules.flatMap(({ alert, ...rule }) =>
  alert === undefined ? [] : [{ alert, ...rule }],
);

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
  readonly panels: readonly Panel[];
}

export const dashboard = JSON.parse(readChartFile('grafana/animal-store.json')) as Dashboard;

export interface Query {
  /** The place where the query is used. */
  readonly usedIn: string;
  readonly expr: string;
  /** Text that names labels of the result. */
  readonly text: string;
}

const withoutVariables = (expr: string) => expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$(?:namespace|instance)/g, '.*');

/** All queries of the rules and the dashboard, with Grafana's variables replaced. */
export const queries: readonly Query[] = [
  ...rules.map(({ alert, record, expr, annotations = {} }) => ({
    usedIn: `rule ${alert ?? record ?? ''}`,
    expr,
    text: Object.values(annotations).join(' ').replaceAll('$labels.', ''),
  })),
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({
      usedIn: `panel ${title}`,
      expr: withoutVariables(expr),
      text: legendFormat,
    })),
  ),
  ...dashboard.templating.list.flatMap(({ name, definition = '' }) => {
    const [, expr, label] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
    return expr === undefined ? [] : [{ usedIn: `variable ${name}`, expr: withoutVariables(expr), text: `{{${label}}}` }];
  }),
];

export const dockerfile = readWorkspaceFile('Dockerfile');

/** The base image of all stages, such as `node:26.10.0-trixie-slim`. */
export const nodeImage = find(/^ARG NODE_IMAGE=(\S+)$/m);
export const healthCheck = JSON.parse(find(/^HEALTHCHECK .*\\\n\s+CMD (\[.*\])$/m)) as readonly string[];
export const command = JSON.parse(find(/^CMD (\[.*\])$/m)) as readonly string[];

interface ComposeService {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly profiles?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly restart?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
}

/** docker-compose.yml with its anchors merged and its variables as written. */
export const compose = parse(readWorkspaceFile('docker-compose.yml'), { merge: true }) as {
  readonly services: Readonly<Record<string, ComposeService>>;
};

function find(pattern: RegExp): string {
  const [, found] = pattern.exec(dockerfile) ?? [];
  if (found === undefined) throw new Error(`The Dockerfile does not match ${String(pattern)}`);
  return found;
}
