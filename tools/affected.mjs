// `npm run affected`: runs `nx affected` with a base that this clone has, or prints how to get one.
import { spawnSync } from 'node:child_process';

const args = process.argv.slice(2);
const git = (...options) => spawnSync('git', options, { encoding: 'utf8' });
const isCommit = (name) => git('rev-parse', '--verify', '--quiet', `${name}^{commit}`).status === 0;

const problem = args.some((argument) => /^--(?:base|files|uncommitted|untracked)\b/.test(argument)) ? undefined : chooseBase();
if (problem) {
  console.error(problem);
  process.exitCode = 1;
} else {
  process.argv.splice(2, args.length, 'affected', ...args);
  await import('../node_modules/nx/dist/bin/nx.js');
}

/** Sets NX_BASE, or returns why it cannot. */
function chooseBase() {
  if (git('rev-parse', '--verify', 'HEAD').status !== 0)
    return 'This needs the history of Git. Clone the repository, or run "npm test", which tests every project.';
  const bases = process.env.NX_BASE ? [process.env.NX_BASE] : ['main', 'origin/main'];
  process.env.NX_BASE = bases.find(isCommit);
  if (bases.some(isCommit)) return undefined;
  const isShallow = git('rev-parse', '--is-shallow-repository').stdout.trim() === 'true';
  return `This clone has no ${bases.join(' or ')} to compare with. Run "git fetch ${isShallow ? '--unshallow ' : ''}origin main:main", or set NX_BASE to a commit.`;
}
