import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

export interface ComposeService {
  readonly image?: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly init?: boolean;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
}

export interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
}

/** docker-compose.yml, its anchors merged and its variables as they are written. */
export async function readCompose(workspaceFolder: string): Promise<Compose> {
  return parse(await readFile(join(workspaceFolder, 'docker-compose.yml'), 'utf8'), { merge: true }) as Compose;
}
