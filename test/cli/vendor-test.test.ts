import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { exampleData, examplesFolder } from '../providers/vendor-files/support.ts';
import { addVendorTest } from '../../src/cli/vendor-test.ts';
import { createProgram } from '../../src/cli/program.js';

const folder = mkdtempSync(join(tmpdir(), 'mediary-vendor-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(...line: readonly string[]): Promise<{ text: string; status: number }> {
  const printed: string[] = [];
  let status = 0;
  const none = (): never => {
    throw new Error('it needs nothing');
  };
  const program = createProgram();
  const group = program.commands.find((command) => command.name() === 'vendors') ?? program;
  addVendorTest(group, {
    print: (text) => void printed.push(text),
    warn: () => undefined,
    isTerminal: false,
    isColoured: false,
    now: Date.now,
    environment: none,
    loadConfig: none,
    loadProviders: none,
    rotateSecrets: none,
    acceptClock: none,
    diagnose: none,
    fail: (code) => {
      status = code;
    },
  });
  await program.parseAsync(['vendors', 'test', ...line], { from: 'user' });
  return { text: printed.join('\n'), status };
}

function changed(change: (file: any) => void): string {
  const data = exampleData('recraft');
  change(data);
  const path = join(folder, 'changed.yaml');
  writeFileSync(path, stringify(data));
  return path;
}

it('gateway vendors test prints a row for each test and ends with 0 if all passed', async () => {
  const files = ['recraft', 'topaz'].map((name) => `${examplesFolder}/${name}.yaml`);
  const { text, status } = await run(...files);
  expect(status).toBe(0);
  expect(text).toMatch(/recraft +fixture two images of V4\.1 +passed/);
  expect(text).toMatch(/topaz +image: at most once: a lost response/);
  expect(text).toMatch(/\nAll \d+ tests passed\. Add the file to `vendors` of gateway\.yaml\.$/);
});

it('shows what failed, and where, and ends with 1', async () => {
  const path = changed((file) => (file.fixtures[0].steps[0].expect.images = []));
  const { text, status } = await run(path);
  expect(status).toBe(1);
  expect(text).toContain('recraft: fixture two images of V4.1: step 1, generate: images is not as expected');
  expect(text).toMatch(/\n1 of \d+ tests failed, so the file cannot be published\.$/);
});

it('prints the same as JSON', async () => {
  const path = changed((file) => (file.error = '$eval("x")'));
  const { text, status } = await run(path, '-o', 'json');
  expect(status).toBe(1);
  expect(JSON.parse(text)).toContainEqual({
    vendor: 'recraft',
    test: 'expression error',
    result: 'failed',
    why: '$eval is not permitted',
  });
});

it('rejects files that are not vendor files or cannot be read', async () => {
  const path = changed((file) => delete file.authentication);
  await expect(run(path)).rejects.toThrow(/is not a vendor file:\n  authentication/);
  await expect(run(join(folder, 'none'))).rejects.toThrow(/cannot be read/);
});
