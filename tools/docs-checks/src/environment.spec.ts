import { variables } from '@animal-store/api/configuration';
import { expect, it } from '@jest/globals';
import { readText } from '@animal-store/checks/workspace';

/** Variables that `npm start` reads, not the API. */
const START_VARIABLES = ['DATA_DIR'];

const assignments = [...readText('.env.example').matchAll(/^#?([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name = '', value = '']) => ({
  name,
  value,
}));

it('.env.example lists exactly the variables that the service reads', () => {
  const names = assignments.map(({ name }) => name);
  expect([...names].sort()).toEqual([...Object.keys(variables), ...START_VARIABLES].sort());
});

interface Declared {
  readonly desc?: string | undefined;
  readonly default?: string | number | boolean | readonly string[] | undefined;
  readonly example?: string | readonly string[] | undefined;
  readonly choices?: readonly unknown[] | undefined;
}

it.each(Object.entries<Declared>(variables))('.env.example shows the default of %s, or an example', (name, variable) => {
  const shown = assignments.find((assignment) => assignment.name === name)?.value;
  expect(shown).toBe(String(variable.default ?? '') || variable.example);
});

const meaningOf = ({ desc = '', choices }: Declared) => (choices ? `${desc} One of ${choices.join(', ')}.` : desc);

it.each(Object.entries<Declared>(variables))('.env.example describes %s', (name, variable) => {
  const [, comment = ''] = new RegExp(`((?:^# .*\n)+)#${name}=`, 'm').exec(readText('.env.example')) ?? [];
  expect(comment.split('\n')).toContain(`# ${meaningOf(variable)}`);
});

it('docs/variables.md lists every variable with its default, an example and its meaning', () => {
  const rows = [...readText('docs/variables.md').matchAll(/^\| `.*$/gm)].map(([row]) => row.replaceAll(/ +/g, ' '));
  const code = (value: string) => (value === '' ? '–' : `\`${value}\``);
  const expected = Object.entries<Declared>(variables).map(
    ([name, variable]) =>
      `| \`${name}\` | ${code(String(variable.default ?? ''))} | ${code(String(variable.example ?? ''))} | ${meaningOf(variable)} |`,
  );
  expect(rows).toEqual(expected);
});
