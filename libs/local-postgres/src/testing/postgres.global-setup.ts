import type { TestProject } from 'vitest/node';

export default async function setUp(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const { testFiles } = await project.globTestFiles();
  if (testFiles.length === 0) return undefined;
  return undefined;
}
