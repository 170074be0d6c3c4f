import { redactKeys } from '@animal-store/access-domain';
import { Command } from 'commander';
import { integerParser } from './arguments.js';
import { diagnose } from './doctor.js';
import { CliError } from './failure.js';
import type { Finding } from './finding.js';
import { toJson } from './output.js';
import type { Terminal } from './terminal.js';

const MAX_INSTANCES = 10_000;

interface Options {
  readonly instances: number;
  readonly json?: boolean;
}

export function doctorCommand({ env, stdout }: Terminal): Command {
  return new Command('doctor')
    .description(
      'Check a deployment with the variables of the service: configuration, database, replicas and Redis. Changes nothing. ' +
        'Exits with code 1 if it finds an error.',
    )
    .option(
      '--instances <count>',
      'instances of the service (pods or machines), for the number of connections',
      integerParser(1, MAX_INSTANCES),
      1,
    )
    .option('--json', 'print JSON')
    .action(async ({ instances, json }: Options) => {
      const findings: Finding[] = [];
      for await (const finding of diagnose(env, instances)) {
        findings.push(finding);
        if (!json) stdout.write(redactKeys(lineOf(finding)));
      }
      if (json) stdout.write(redactKeys(toJson({ findings })));
      const errors = findings.filter(({ status }) => status === 'error').length;
      if (errors > 0) throw new CliError(`${String(errors)} of ${String(findings.length)} checks failed`);
    });
}

function lineOf({ status, check, found, action }: Finding): string {
  return `${status.padEnd('warning'.length)}  ${check}: ${found}${action === undefined ? '' : `; ${action}`}\n`;
}
