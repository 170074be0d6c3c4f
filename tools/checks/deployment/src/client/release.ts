/**
 * `npx nx prepare-release client`: derives the next version of the client from the commits since its last tag, and writes its
 * package.json and its CHANGELOG.md. Not a release group in nx.json: with two groups, Nx no longer writes the changelog of the workspace.
 */
import changelogRenderer, { type ChangelogChange } from 'nx/release/changelog-renderer';
import { ReleaseClient } from 'nx/release/index.js';

/** Lists commits with the scope `client`. Nx would also list those that change a file of no project, such as package-lock.json. */
class ClientChangelogRenderer extends changelogRenderer.default {
  protected override filterChanges(changes: ChangelogChange[]): ChangelogChange[] {
    return changes.filter(({ scope }) => scope === 'client');
  }
}

const dryRun = process.argv.includes('--dry-run');
const git = { commit: false, tag: false, stageChanges: false };
const release = new ReleaseClient(
  {
    projects: ['client'],
    releaseTag: { pattern: 'client-v{version}' },
    version: { conventionalCommits: true, fallbackCurrentVersionResolver: 'disk', git },
    changelog: {
      automaticFromRef: true,
      workspaceChangelog: false,
      projectChangelogs: { renderer: ClientChangelogRenderer as unknown as string, renderOptions: { authors: false } },
      git,
    },
  },
  true,
);

const { projectsVersionData, releaseGraph } = await release.releaseVersion({ dryRun });
await release.releaseChangelog({ versionData: projectsVersionData, releaseGraph, dryRun });
